package main

// Mutants of limits, and of what goes back.
var ofBudgets = []mutant{
	{
		name: "limit: a reservation outlasts a failed Alloc",
		file: "slab/limit.go",
		old:  "if !drawn {", new: "if !drawn && n < 0 {",
		killer: killer{pkg: "slab", test: "TestLimitCountsWhatIsCommitted"},
	},
	{
		name: "limit: the last byte is refused",
		file: "slab/limit.go",
		old:  "n > l.max-l.inUse", new: "n >= l.max-l.inUse",
		killer: killer{pkg: "slab", test: "TestLimitCountsWhatIsCommitted"}, fast: true,
	},
	{
		name: "limit: a byte too many passes",
		file: "slab/limit.go",
		old:  "n > l.max-l.inUse", new: "n > l.max-l.inUse+1",
		killer: killer{pkg: "slab", test: "TestLimitOfNothingAllowsNothing"},
	},
	{
		name: "limit: what a region has beyond the size is free",
		file: "slab/limit.go",
		old:  "l.reserve(l.up.Footprint(b)-n, false)", new: "l.reserve(0, false)",
		killer: killer{pkg: "slab", test: "TestLimitCountsWholeRegions"},
	},
	{
		name: "limit: a region that is too large is kept",
		file: "slab/limit.go",
		old:  "\t\tl.up.Free(b)\n\t\tl.refund(n, false)\n", new: "\t\tl.refund(n, false)\n",
		killer: killer{pkg: "slab", test: "TestLimitGivesARegionBackThatIsTooLarge"},
	},
	{
		name: "limit: room that comes back wakes nobody",
		file: "slab/limit.go",
		old:  "\t\tat.budget.Queue.Wake()\n", new: "",
		killer: killer{pkg: "slab", test: "TestWhatMakesRoomWakes"},
	},
	{
		name: "limit: decommitted pages stay counted",
		file: "slab/limit.go",
		old:  "\tr.l.refund(int64(r.committed.Overlap(off, off+n)), true)\n", new: "",
		killer: killer{pkg: "slab", test: "TestLimitCountsWhatIsCommitted"},
	},
	{
		name: "limit: what is committed twice counts twice",
		file: "slab/limit.go",
		old:  "max(0, n-r.committed.Overlap(off, off+n))", new: "max(0, n)",
		killer: killer{pkg: "slab", test: "TestLimitCountsBytesOfARangeOnce"},
	},
	{
		name: "limit: a closed range stays counted",
		file: "slab/limit.go",
		old:  "\tr.l.refund(int64(r.committed.Overlap(0, math.MaxInt)), true)\n", new: "\t_ = math.MaxInt\n",
		killer: killer{pkg: "slab", test: "TestLimitCountsWhatIsCommitted"},
	},
	{
		name: "limit: pages in quarantine stay counted",
		file: "slab/limit.go",
		old:  "\tl.refund(n, true)\n\treturn true", new: "\treturn true",
		killer: killer{pkg: "slab", test: "TestBudgetOutlastsForgottenParts"},
	},
	{
		name: "guarantee: the parent counts use alone",
		file: "slab/guarantee.go",
		old:  "max(n, l.guarantee) - max(l.inUse, l.guarantee)", new: "n - l.inUse",
		killer: killer{pkg: "slab", test: "TestGuaranteeOfRanges"},
	},
	{
		name: "guarantee: more is promised than there is",
		file: "slab/guarantee.go",
		old:  "guarantee > l.max-l.promised", new: "guarantee > l.max",
		killer: killer{pkg: "slab", test: "TestBadGuarantees"},
	},
	{
		name: "guarantee: an end counts twice",
		file: "slab/guarantee.go",
		old:  "\tl.guarantee = 0\n", new: "",
		killer: killer{pkg: "slab", test: "TestParentCountsTheGuarantee"},
	},
	{
		name: "guarantee: an end gives back what is in use",
		file: "slab/guarantee.go",
		old:  "max(l.inUse, g)-l.inUse", new: "g",
		killer: killer{pkg: "slab", test: "TestParentCountsTheGuarantee"},
	},
	{
		name: "share: a pool asks itself",
		file: "slab/internal/budget/members.go",
		old:  "if m != except {", new: "if true {",
		killer: killer{pkg: "slab", test: "TestReclaimAsksEverybodyElse"},
	},
	{
		name: "share: an Offer wakes nobody",
		file: "slab/budget.go",
		old:  "Offer() { p.opened().wake() }", new: "Offer() { p.opened() }",
		killer: killer{pkg: "slab", test: "TestAWaiterHasWhatKeepersOffer"},
	},
	{
		name: "clock: a pool is idle a tick later",
		file: "slab/internal/clock/clock.go",
		old:  "k.quiet >= k.idle", new: "k.quiet > k.idle",
		killer: killer{pkg: "slab", test: "TestIdlePoolGivesBack"},
	},
	{
		name: "clock: nothing untouched goes back",
		file: "slab/internal/clock/clock.go",
		old:  "case k.trim > 0:", new: "case k.trim < 0:",
		killer: killer{pkg: "slab", test: "TestTrimAfterGivesIdleMemoryBack"},
	},
	{
		name: "reclaim: Close lets streams go on",
		file: "slab/reclaim.go",
		old:  "\tfor p.freeOldestLocked() {\n\t}\n", new: "",
		killer: killer{pkg: "slab", test: "TestStopHoldingWaits"},
	},
	{
		name: "reclaim: Close keeps its place among the sharers",
		file: "slab/close.go",
		old:  "\tp.leaveBudgets()\n", new: "",
		killer: killer{pkg: "slab", test: "TestCloseUnshares"},
	},
	{
		name: "limits: the depot has no share of max_held",
		file: "slab/caches.go",
		old:  "int64(processors+1)", new: "int64(processors)",
		killer: killer{pkg: "slab", test: "TestCachesHaveAQuarterOfWhatMayBeHeld"},
	},
	{
		name: "limits: caches are not emptied where too much is held",
		file: "slab/reclaim.go",
		old:  "p.held.cached.Swap(false) {", new: "p.held.cached.Swap(false) && false {",
		killer: killer{pkg: "slab", test: "TestCachesKeepNoSlabsBeyondWhatMayBeHeld"},
	},
	{
		name: "limits: a Trim leaves the strategy more than its part",
		file: "slab/reclaim.go",
		old:  "if idle && any && p.held", new: "if idle && !any && p.held",
		killer: killer{pkg: "slab", test: "TestTrimLeavesTheStrategyItsPart"},
	},
	{
		name: "limits: larger blocks are cached than may be held",
		file: "slab/caches.go",
		old:  "size <= n {", new: "size <= 2*n {",
		killer: killer{pkg: "slab", test: "TestBlocksThatAreNotToBeHeldAreNotCached"},
	},
}
