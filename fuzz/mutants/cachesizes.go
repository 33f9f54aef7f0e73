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
		killer: killer{pkg: "slab/internal/percpu", test: "TestBudgets"},
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
		old:  "c.low = min(c.low, c.count)", new: "c.low = c.count + 1",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotKeepsWhatIsNeeded"},
	},
	{
		name: "percpu: a class cache in use is never too large",
		file: "slab/internal/percpu/idle.go",
		old:  "return was.depth", new: "return 0",
		killer: killer{pkg: "slab", test: "TestTrimGivesBackWhatABurstLeft"},
	},
	{
		name: "percpu: blocks that came and went were never needed",
		file: "slab/internal/percpu/idle.go",
		old:  " ^ s.Generation()", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestIdleReclaimLeavesWhatIsUsed"},
	},
	{
		name: "percpu: what lay below may be held still",
		file: "slab/internal/percpu/idle.go",
		old:  "\t\tk.limit.Add(n) // it is ^limit now\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestIdleReclaimTakesWhatLiesBelow"},
	},
	{
		name: "percpu: grants are not counted",
		file: "slab/internal/percpu/resize.go",
		old:  "\tp.granted += more\n\treturn true", new: "\treturn true",
		killer: killer{pkg: "slab/internal/percpu", test: "TestBlocksAreEarned"},
	},
	{
		name: "percpu: the previous magazine is not counted against the budget",
		file: "slab/internal/percpu/resize.go",
		old:  "\t\tp.granted += more\n\t\tk.nprevious = n", new: "\t\tk.nprevious = n",
		killer: killer{pkg: "slab/internal/percpu", test: "TestMagazinesHaveWhatTheySay"},
	},
	{
		name: "percpu: a budget passes its hard bound",
		file: "slab/internal/percpu/budget.go",
		old:  "return bytes <= b.most && ", new: "return ",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotIsEarned"},
	},
	{
		name: "percpu: refusals are not counted",
		file: "slab/internal/percpu/budget.go",
		old:  "\t*refused++\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestDepotIsEarned"},
	},
	{
		name: "percpu: a class empties its own cache to make room",
		file: "slab/internal/percpu/resize.go",
		old:  "p.victim == but || ", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAFullBudgetIsNotTakenAtOnce"},
	},
	{
		name: "percpu: classes empty each other all the time",
		file: "slab/internal/percpu/resize.go",
		old:  "full && paid {", new: "full && (paid || full) {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAFullBudgetIsNotTakenAtOnce"},
	},
	{
		name: "percpu: a class that is new starves",
		file: "slab/internal/percpu/resize.go",
		old:  "full && paid {", new: "full && paid && limit < 0 {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAFullBudgetIsNotTakenAtOnce"},
	},
	{
		name: "percpu: blocks after a panic of the strategy are lost",
		file: "slab/internal/percpu/resize.go",
		old:  "m.n = int32(n)\n\t}()", new: "m.n = 0\n\t}()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAPanicOfTheStrategyLosesNoBlock"},
	},
	{
		name: "percpu: magazines after a panic of the strategy are lost",
		file: "slab/internal/percpu/resize.go",
		old:  "defer func() { c.depot.restore(m, c.BlockBytes) }()", new: "defer func() {}()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAPanicOfTheStrategyLosesNoBlock"},
	},
	{
		name: "percpu: magazines that leave are not told from hits",
		file: "slab/internal/percpu/resize.go",
		old:  "\tk.moved -= int64(n)\n\treturn nil", new: "\treturn nil",
		killer: killer{pkg: "slab/internal/percpu", test: "TestReclaimAgainstHits"},
	},
	{
		name: "percpu: what a processor may not hold never goes to the depot",
		file: "slab/internal/percpu/resize.go",
		old:  "limit == 0 || c.options.Merges {", new: "true {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestWhatIsRefusedGoesToTheDepot"},
	},
	{
		name: "slab: the share of a processor is all that it may hold",
		file: "slab/limits.go",
		old:  "\t\to.Divisor, o.Least = 1, cachedLimit\n", new: "",
		killer: killer{pkg: "slab", test: "TestOneProcessorLeavesBlocksForOthers"},
	},
}
