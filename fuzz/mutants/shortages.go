package main

// Mutants of what is read of the system's memory, and of what goes back when it is short.
var ofShortages = []mutant{
	{
		name: "cgroup: a limit of 0 is one",
		file: "internal/cgroup/limit.go",
		old:  "if err != nil || n <= 0 {", new: "if err != nil || n < 0 {",
		killer: killer{pkg: "internal/cgroup", test: "TestLimit"}, fast: true,
	},
	{
		name: "cgroup: the groups around are not read",
		file: "internal/cgroup/cgroup.go",
		old:  `if at == "." || at == "/" {`, new: `if at != "" {`,
		killer: killer{pkg: "internal/cgroup", test: "TestLimit"},
	},
	{
		name: "cgroup: the page cache counts as used",
		file: "internal/cgroup/usage.go",
		old:  "n-s.field(", new: "n-0*s.field(",
		killer: killer{pkg: "internal/cgroup", test: "TestUsage"},
	},
	{
		name: "share: the group's limit is not asked for",
		file: "slab/maxshare.go",
		old:  "l.Bytes > 0 && (l.Bytes < bytes", new: "l.Bytes > 0 && (l.Bytes < 0",
		killer: killer{pkg: "slab", test: "TestMaxShare"},
	},
	{
		name: "memlimit: off-heap bytes are added",
		file: "internal/memlimit/memlimit.go",
		old:  "max(t-max(0, offHeap), t/LeastShare)", new: "max(t+max(0, offHeap), t/LeastShare)",
		killer: killer{pkg: "internal/memlimit", test: "TestAdjustFollows"},
	},
	{
		name: "memlimit: a total raises the limit that is set",
		file: "internal/memlimit/memlimit.go",
		old:  "n := state.before\n", new: "n := int64(None)\n",
		killer: killer{pkg: "internal/memlimit", test: "TestAdjustHonoursTheLimitThatIsSet"},
	},
	{
		name: "memlimit: stop restores nothing",
		file: "internal/memlimit/memlimit.go",
		old:  "\tdebug.SetMemoryLimit(state.before)\n", new: "",
		killer: killer{pkg: "internal/memlimit", test: "TestAdjustFollows"},
	},
	{
		name: "relief: what was used last goes first",
		file: "slab/internal/relief/relief.go",
		old:  "uses[a].since.Compare(uses[b].since)", new: "uses[b].since.Compare(uses[a].since)",
		killer: killer{pkg: "slab/internal/relief", test: "TestSteps"},
	},
	{
		name: "relief: all goes at once",
		file: "slab/internal/relief/step.go",
		old:  "held/2, held <= leastStep", new: "held, held <= leastStep",
		killer: killer{pkg: "slab/internal/relief", test: "TestSteps"},
	},
	{
		name: "relief: it asks all the time when there is nothing",
		file: "slab/internal/relief/watch.go",
		old:  "w.until = time.Now().Add(w.idle)", new: "w.until = time.Now().Add(0 * w.idle)",
		killer: killer{pkg: "slab/internal/relief", test: "TestWatcherDoesNotSpin"},
	},
	{
		name: "relief: it goes on where there is room",
		file: "slab/internal/relief/watch.go",
		old:  "\t\t\twhy = w.sensor.short()\n", new: "\t\t\t_ = w.sensor.short()\n",
		killer: killer{pkg: "slab/internal/relief", test: "TestWatcherGivesUntilThereIsRoom"},
	},
	{
		name: "relief: no watcher ends",
		file: "slab/internal/relief/relief.go",
		old:  "\t\tg.watcher.end()\n", new: "",
		killer: killer{pkg: "slab/internal/relief", test: "TestProcess"},
	},
	{
		name: "pressure: caches keep what they have",
		file: "slab/pressure.go",
		old:  "\tp.emptyCachesLocked(false)\n", new: "",
		killer: killer{pkg: "slab", test: "TestGiveBackAPart"},
	},
	{
		name: "pageheap: the youngest goes first",
		file: "slab/internal/pageheap/spare.go",
		old:  "cmp.Compare(a.stamp, b.stamp)", new: "cmp.Compare(b.stamp, a.stamp)",
		killer: killer{pkg: "slab", test: "TestGiveBackTheOldest"},
	},
	{
		name: "mmap: pools take the last mappings",
		file: "device/mmap_mappings.go",
		old:  "most - has - spare(most)", new: "most - has",
		killer: killer{pkg: "device", test: "TestMappingBudget"},
	},
}
