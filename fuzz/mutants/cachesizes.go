package main

// Mutants of how much caches hold, and where the rest goes.
var ofCacheSizes = []mutant{
	{
		name: "percpu: the depot takes magazines after Stop",
		file: "slab/internal/percpu/depot.go",
		old:  " || d.stopped()", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotRefuses"},
	},
	{
		name: "percpu: what the depot refuses stays counted",
		file: "slab/internal/percpu/depot.go",
		old:  "\t\td.bytes.Add(-n)\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotRefuses"},
	},
	{
		name: "percpu: what leaves the depot stays counted",
		file: "slab/internal/percpu/depot.go",
		old:  "\t\td.bytes.Add(-int64(m.n) * size)\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotKeepsWhatIsNeeded"},
	},
	{
		name: "percpu: a reclaim of the depot is not counted",
		file: "slab/internal/percpu/depot.go",
		old:  "\t\t\td.bytes.Add(-int64(m.n) * size(i))\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotKeepsWhatIsNeeded"},
	},
	{
		name: "percpu: magazines that were needed count as idle",
		file: "slab/internal/percpu/depot.go",
		old:  "c.low = min(c.low, c.have.Load())", new: "c.low = c.have.Load() + 1",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotKeepsWhatIsNeeded"},
	},
	{
		name: "percpu: a class cache in use is never too large",
		file: "slab/internal/percpu/idle.go",
		old:  "return s.depth", new: "return 0",
		killer: killer{pkg: "slab/internal/percpu", test: "TestIdleReclaimTakesWhatLiesBelow"},
	},
	{
		name: "percpu: blocks that came and went were never needed",
		file: "slab/internal/percpu/magazine.go",
		old:  " ^ s.Generation()", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestIdleReclaimLeavesWhatIsUsed"},
	},
	{
		name: "percpu: what lay below may be held still",
		file: "slab/internal/percpu/classcache.go",
		old:  "\t\tc.limit.Add(n) // it is ^limit now\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestIdleReclaimTakesWhatLiesBelow"},
	},
	{
		name: "percpu: grants are not counted",
		file: "slab/internal/percpu/budget.go",
		old:  "\tp.granted += more\n\treturn true", new: "\treturn true",
		killer: killer{pkg: "slab/internal/percpu", test: "TestBlocksAreEarned"},
	},
	{
		name: "percpu: the previous magazine is not counted against the budget",
		file: "slab/internal/percpu/resize.go",
		old:  "\t\tp.granted += more\n\t\tout, k", new: "\t\tout, k",
		killer: killer{pkg: "slab/internal/percpu", test: "TestMagazinesHaveWhatTheySay"},
	},
	{
		name: "percpu: a budget passes its hard bound",
		file: "slab/internal/percpu/budget.go",
		old:  "|| bytes <= b.most && ", new: "|| ",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotIsEarned"},
	},
	{
		name: "percpu: a class empties its own cache to make room",
		file: "slab/internal/percpu/evict.go",
		old:  "p.victim == but || ", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAFullBudgetIsForWhatIsEarned"},
	},
	{
		name: "percpu: blocks after a panic of the strategy are lost",
		file: "slab/internal/percpu/magazine.go",
		old:  "m.n = int32(n)\n\t}()", new: "m.n = 0\n\t}()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAPanicOfTheStrategyLosesNoBlock"},
	},
	{
		name: "percpu: magazines after a panic of the strategy are lost",
		file: "slab/internal/percpu/spill.go",
		old:  "defer func() { c.depot.restore(m, c.BlockBytes) }()", new: "defer func() {}()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAPanicOfTheStrategyLosesNoBlock"},
	},
	{
		name: "percpu: magazines that leave are not told from hits",
		file: "slab/internal/percpu/classcache.go",
		old:  "\tc.moved -= int64(n)\n\treturn nil", new: "\treturn nil",
		killer: killer{pkg: "slab/internal/percpu", test: "TestReclaimAgainstHits"},
	},
	{
		name: "percpu: Gets that no refused block could have served earn",
		file: "slab/internal/percpu/worth.go",
		old:  "\tif d.refused == 0 {\n\t\treturn\n\t}\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestReleasesAloneEarnNothing"},
	},
	{
		name: "percpu: closed caches earn",
		file: "slab/internal/percpu/cache.go", old: " && c.caches[class].limit.Load() >= 0", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestClosedCachesEarnNothing"},
	},
	{
		name: "percpu: what is asked for seldom earns",
		file: "slab/internal/percpu/worth.go",
		old:  "case worth <= lookEvery:", new: "case worth <= 1e9*lookEvery:",
		killer: killer{pkg: "slab/internal/percpu", test: "TestALargeBlockIsNotEarned"},
	},
	{
		name: "percpu: what was earned is never lost",
		file: "slab/internal/percpu/worth.go",
		old:  "case worth > farLess*lookEvery && e.Load() > 0:", new: "case false:",
		killer: killer{pkg: "slab/internal/percpu", test: "TestWhatIsAskedForSeldomIsLost"},
	},
	{
		name: "percpu: blocks that are not used stay",
		file: "slab/internal/percpu/evict.go",
		old:  "k.touched()) || !k.limit.CompareAndSwap(limit, 0) {", new: "k.touched()) || true {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestUnusedBlocksAreLetGo"},
	},
	{
		name: "percpu: a full budget is for those who came first",
		file: "slab/internal/percpu/resize.go",
		old:  "p.granted+p.options.blockBytes(class) <= b.most || ", new: "true || ",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAFullBudgetIsForWhatIsEarned"},
	},
	{
		name: "percpu: large blocks are cached for the asking",
		file: "slab/internal/percpu/budget.go",
		old:  "bytes <= b.share && block <= shareBytes }", new: "bytes <= b.share }",
		killer: killer{pkg: "slab/internal/percpu", test: "TestTheShareIsForSmallBlocks"},
	},
}
