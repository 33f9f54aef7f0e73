package main

// Mutants of what looks after released buffers, and of the profile.
var ofGuards = []mutant{
	{
		name: "guard: a view is told of before its time",
		file: "slab/internal/guard/look.go",
		old:  "time.Since(k.at) >= g.o.Linger", new: "time.Since(k.at) >= 0",
		killer: killer{pkg: "slab/internal/guard", test: "TestAViewMayLinger"},
	},
	{
		name: "guard: views have no time",
		file: "slab/guard.go",
		old:  " Linger: linger,", new: "",
		killer: killer{pkg: "slab", test: "TestGuardFindsViewsThatOutliveTheirBuffers"},
	},
	{
		name: "guard: what was written is not looked at",
		file: "slab/internal/guard/withheld.go",
		old:  "if off, ok := k.written(); ok {", new: "if off, ok := k.written(); ok && off < 0 {",
		killer: killer{pkg: "slab/internal/guard", test: "TestAWriteIsTold"},
	},
	{
		name: "guard: the last bytes are not verified",
		file: "slab/internal/guard/block.go",
		old:  "for at := 0; at < len(m); at += len(pattern) {", new: "for at := 0; at+len(pattern) <= len(m); at += len(pattern) {",
		killer: killer{pkg: "slab/internal/guard", test: "TestAWriteIsTold"},
	},
	{
		name: "guard: the offset of a write is that in its part",
		file: "slab/internal/guard/block.go",
		old:  "return at + slices.IndexFunc", new: "return slices.IndexFunc",
		killer: killer{pkg: "slab/internal/guard", test: "TestAWriteIsTold"},
	},
	{
		name: "guard: a view is told of again",
		file: "slab/internal/guard/look.go",
		old:  "\t\t\tk.told = true\n", new: "",
		killer: killer{pkg: "slab/internal/guard", test: "TestAViewIsToldAfterCollections"},
	},
	{
		name: "guard: collections before the Release count",
		file: "slab/internal/guard/withheld.go",
		old:  "k.since, k.at = g.collections.Load(), time.Now()", new: "k.at = time.Now()",
		killer: killer{pkg: "slab/internal/guard", test: "TestAViewIsToldAfterCollections"},
	},
	{
		name: "guard: too many bytes may be withheld",
		file: "slab/internal/guard/withheld.go",
		old:  " && g.usage.Withheld <= mostBytes", new: "",
		killer: killer{pkg: "slab/internal/guard", test: "TestBounds"},
	},
	{
		name: "guard: too many blocks may be withheld",
		file: "slab/internal/guard/withheld.go",
		old:  "len(g.withheld) <= mostBlocks && ", new: "",
		killer: killer{pkg: "slab/internal/guard", test: "TestBounds"},
	},
	{
		name: "guard: what the upstream would not take is lost",
		file: "slab/internal/guard/withheld.go",
		old:  "\t\t\tg.withholdAgain(k)\n", new: "",
		killer: killer{pkg: "slab/internal/guard", test: "TestWithholdsWhatTheUpstreamWouldNotTake"},
	},
	{
		name: "guard: a turn does not end",
		file: "slab/internal/guard/guard.go",
		old:  "if left == 0 {", new: "if left < -turn {",
		killer: killer{pkg: "slab", test: "TestATurnEndsThatDrawsNothing"},
	},
	{
		name: "guard: memory that the CPU cannot reach is guarded",
		file: "slab/internal/guard/guard.go",
		old:  "\t\tg.off.Store(true)\n", new: "",
		killer: killer{pkg: "slab/internal/guard", test: "TestUnreachableMemoryIsNotGuarded"},
	},
	{
		name: "guard: long buffers are drawn as often",
		file: "slab/internal/guard/guard.go",
		old:  " || rand.IntN(size) < cheap", new: " || true",
		killer: killer{pkg: "slab/internal/guard", test: "TestDraw"},
	},
	{
		name: "guard: pages stay accessible",
		file: "slab/internal/guard/block.go",
		old:  "r.Quarantine(0, k.Region.Size()) == nil", new: "r.Quarantine(0, 0) == nil && false",
		killer: killer{pkg: "slab", test: "TestGuardMakesPagesInaccessible"},
	},
	{
		name: "guard: Close forgets what was found",
		file: "slab/guard.go",
		old:  "\t\tg.keep(err)\n", new: "",
		killer: killer{pkg: "slab", test: "TestCloseReturnsWhatAGuardFound"},
	},
	{
		name: "profile: what was released is in use",
		file: "slab/internal/profile/profile.go",
		old:  "\ts.InUse.sub(s.amount)\n", new: "",
		killer: killer{pkg: "slab/internal/profile", test: "TestUsageByStack"},
	},
	{
		name: "profile: what was released has leaked",
		file: "slab/internal/profile/profile.go",
		old:  "\tif leaked {\n", new: "\tif true {\n",
		killer: killer{pkg: "slab/internal/profile", test: "TestUsageByStack"},
	},
	{
		name: "profile: stacks are not bounded",
		file: "slab/internal/profile/profile.go",
		old:  "\tif len(p.sites) >= MaxStacks {\n", new: "\tif false {\n",
		killer: killer{pkg: "slab/internal/profile", test: "TestStacksAreBounded"},
	},
	{
		name: "profile: stacks that are over stay",
		file: "slab/internal/profile/profile.go",
		old:  "func(_ Stack, s *site) bool { return s.isEmpty() }", new: "func(Stack, *site) bool { return false }",
		killer: killer{pkg: "slab/internal/profile", test: "TestStacksAreBounded"},
	},
	{
		name: "profile: a stack that has something again counts as over",
		file: "slab/internal/profile/profile.go",
		old:  "\t\t\tp.empty--\n", new: "",
		killer: killer{pkg: "slab/internal/profile", test: "TestAStackThatComesAgainIsNotOver"},
	},
	{
		name: "profile: what no sample is of is left out",
		file: "slab/internal/profile/profile.go",
		old:  "\t\t*side(&list[len(list)-1].Usage) = known\n", new: "",
		killer: killer{pkg: "slab/internal/profile", test: "TestFit"},
	},
	{
		name: "profile: a sample stands for itself",
		file: "slab/internal/profile/profile.go",
		old:  "math.Round(stands * float64(bytes))", new: "math.Round(float64(bytes))",
		killer: killer{pkg: "slab", test: "TestProfileEstimates"},
	},
}
