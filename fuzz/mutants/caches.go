package main

// Mutants of the caches before a strategy.
var ofCaches = []mutant{
	{
		name: "flush: the caches stay as they are for the look",
		file: "slab/flush.go", old: "\t\tp.emptyCachesLocked(false)\n", new: "",
		killer: killer{pkg: "slab", test: "TestWhatOnlyCachesKeepAliveIsFound"},
	},
	{
		name: "flush: no pool looks",
		file: "slab/open.go", old: "\t\t\tp.lookWithoutCaches()\n", new: "",
		killer: killer{pkg: "slab", test: "TestWhatOnlyCachesKeepAliveIsFound"},
	},
	{
		name: "flush: pools off the heap look, too",
		file: "slab/flush.go", old: " || !p.isCollected()", new: "",
		killer: killer{pkg: "slab", test: "TestOnlyPoolsOfTheHeapWithCachesLook"},
	},
	{
		name: "flush: the wait does not grow",
		file: "slab/internal/floor/lookout.go", old: "min(2*l.wait+leastRows, mostRows)", new: "min(0, mostRows)",
		killer: killer{pkg: "slab", test: "TestCachesOfAHealthyProgramAreKept"},
	},
	{
		name: "flush: what is out for good counts anew each time",
		file: "slab/internal/floor/lookout.go", old: "l.rows, l.base = 0, max(0, old-found)", new: "l.rows, l.base = 0, 0",
		killer: killer{pkg: "slab/internal/floor", test: "TestLooksInVainGetRare"},
	},
	{
		name: "flush: what is out at one collection is old",
		file: "slab/internal/floor/floor.go", old: "f.seen == 0 || out < f.least", new: "f.seen == 0 || out > f.least",
		killer: killer{pkg: "slab/internal/floor", test: "TestTheLeastOfARowIsOld"},
	},
	{
		name: "growth: nobody says that slices are lost",
		file: "slab/open.go", old: "\t\t\tp.noticeGrowth()\n", new: "",
		killer: killer{pkg: "slab", test: "TestCollectionsNoticeLostSlices"},
	},
	{
		name: "growth: it is said each time",
		file: "slab/growing.go", old: "!p.warned.Swap(true)", new: "!p.warned.Swap(false)",
		killer: killer{pkg: "slab", test: "TestLostSlicesAreToldOnce"},
	},
	{
		name: "growth: handles count as slices",
		file: "slab/growing.go", old: "n.Bytes > least/2", new: "n.Bytes > 0",
		killer: killer{pkg: "slab", test: "TestWhatIsNotLostIsNotTold"},
	},
	{
		name: "growth: released slices count",
		file: "slab/internal/handle/table.go", old: "s.addr != noBlock && s.isBySlice()", new: "s.addr != noBlock",
		killer: killer{pkg: "slab/internal/handle", test: "TestBySliceCountsOwners"},
	},
	{
		name: "growth: what rises no more counts",
		file: "slab/internal/floor/growth.go", old: " || !g.isPart(least-last, g.rows)", new: " || last < 0",
		killer: killer{pkg: "slab/internal/floor", test: "TestWhatIsNoLeak"},
	},
	{
		name: "growth: what was filled counts for ever",
		file: "slab/internal/floor/growth.go", old: "!g.isPart(least-g.half, 1)", new: "false",
		killer: killer{pkg: "slab/internal/floor", test: "TestWhatIsNoLeak"},
	},
	{
		name: "growth: a slow rise stands still each time",
		file: "slab/internal/floor/growth.go", old: "least = g.base\n\t}\n", new: "_ = least\n\t}\n",
		killer: killer{pkg: "slab/internal/floor", test: "TestALeakIsNoticed"},
	},
	{
		name: "growth: a fall is forgotten",
		file: "slab/internal/floor/growth.go", old: "least < g.peak/2 || ", new: "",
		killer: killer{pkg: "slab/internal/floor", test: "TestWhatIsNoLeak"},
	},
	{
		name: "flush: little found is worth a look",
		file: "slab/internal/floor/lookout.go", old: "found >= old/worth", new: "found > 0",
		killer: killer{pkg: "slab/internal/floor", test: "TestLooksInVainGetRare"},
	},
	{
		name: "percpu: a block that is too short is handed out",
		file: "slab/internal/percpu/refill.go",
		old:  "at.Slot.Len() >= size {\n\t\t\tif e = q.Take", new: "at.Slot.Len() >= 0 {\n\t\t\tif e = q.Take",
		killer: killer{pkg: "slab/internal/percpu", test: "TestShortBlocksGoBack"},
	},
	{
		name: "slab: Get hands out a cached block that is too short",
		file: "slab/get.go",
		old:  "at.Slot.Len() >= size {", new: "at.Slot.Len() >= 0 {",
		killer: killer{pkg: "slab", test: "TestNoOutOfMemoryWhileABlockIsHeld"},
	},
	{
		name: "percpu: a taken entry stays in its magazine",
		file: "slab/internal/percpu/classcache.go",
		old:  "e, *at = *at, handle.Entry{} // or", new: "e = *at // or",
		killer: killer{pkg: "slab/internal/percpu", test: "TestMagazinesHaveWhatTheySay"},
	},
	{
		name: "percpu: who adds up takes a magazine to be there",
		file: "slab/internal/percpu/magazine.go",
		old:  "if m == nil {", new: "if false {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestUsageOfMagazinesThatComeAndGo"},
	},
	{
		name: "percpu: Enter does not mark the class cache as busy",
		file: "slab/internal/percpu/classcache.go",
		old:  "func (c *ClassCache) Enter() bool {\n\tc.busy = 1", new: "func (c *ClassCache) Enter() bool {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestProtocolOfReclaim"},
	},
	{
		name: "percpu: Enter does not look whether the class cache is closed",
		file: "slab/internal/percpu/classcache.go",
		old:  "return c.limit.Load() >= 0 && int32", new: "return int32",
		killer: killer{pkg: "slab/internal/percpu", test: "TestNothingChangesWhatIsClosed"},
	},
	{
		name: "percpu: Push takes one block more than the limit",
		file: "slab/internal/percpu/classcache.go",
		old:  "int32(n) < c.limit.Load()", new: "int32(n) <= c.limit.Load()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestBudgets"},
	},
	{
		name: "percpu: no barrier before who is busy is looked at",
		file: "slab/internal/percpu/pin.go",
		old:  "\tbarrier()\n\tfor", new: "\tfor",
		killer: killer{pkg: "slab/internal/percpu", test: "TestProtocolOfReclaim"}, fast: true,
	},
	{
		name: "percpu: quiesce does not wait for class caches",
		file: "slab/internal/percpu/pin.go",
		old:  "untilIdle(&c.caches[i].busy)", new: "_ = i",
		killer: killer{pkg: "slab/internal/percpu", test: "TestQuiesceWaitsForTheBusy"},
	},
	{
		name: "percpu: quiesce does not wait for processors",
		file: "slab/internal/percpu/pin.go",
		old:  "untilIdle(&c.cpus[i].busy)", new: "_ = i",
		killer: killer{pkg: "slab/internal/percpu", test: "TestQuiesceWaitsForTheBusy"},
	},
	{
		name: "percpu: a processor is not marked busy",
		file: "slab/internal/percpu/cache.go",
		old:  "p.busy = 1", new: "p.busy = 0",
		killer: killer{pkg: "slab/internal/percpu", test: "TestACPUIsMarkedBusy"},
	},
	{
		name: "percpu: nobody waits for those who are in a class cache",
		file: "slab/internal/percpu/reclaim.go",
		old:  "\tc.quiesce()\n}", new: "}",
		killer: killer{pkg: "slab/internal/percpu", test: "TestProtocolOfReclaim"},
	},
	{
		name: "percpu: a reclaim does not look for the next one",
		file: "slab/internal/percpu/reclaim.go",
		old:  "\tp.look()\n\treturn out", new: "\treturn out",
		killer: killer{pkg: "slab/internal/percpu", test: "TestIdleReclaimTakesWhatIsUntouched"},
	},
	{
		name: "percpu: what a panic leaves of a reclaim is lost",
		file: "slab/internal/percpu/reclaim.go",
		old:  "defer func() { c.depot.restore(out, c.BlockBytes) }()", new: "defer func() {}()",
		killer: killer{pkg: "slab/internal/percpu", test: "TestAPanicOfTheStrategyLosesNoBlock"},
	},
	{
		name: "percpu: a magazine from the depot counts as releases",
		file: "slab/internal/percpu/refill.go",
		old:  "\tk.moved += int64(n)\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestCountersAddUp"},
	},
	{
		name: "percpu: a class of mixed lengths stays exact",
		file: "slab/internal/percpu/refill.go",
		old:  "\t\tc.mixed[class].Store(true)\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestShortBlocksGoBack"},
	},
	{
		name: "percpu: the bytes of the previous magazine stay granted after a swap",
		file: "slab/internal/percpu/refill.go",
		old:  "\tp.granted -= int64(k.nprevious) * p.options.blockBytes(class)\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestSwapEndsAGrant"},
	},
	{
		name: "percpu: a magazine is installed over blocks",
		file: "slab/internal/percpu/refill.go",
		old:  " || k.n() > 0 || !p.grant", new: " || !p.grant",
		killer: killer{pkg: "slab/internal/percpu", test: "TestInstallLeavesBlocks"},
	},
	{
		name: "percpu: the last block of a depot magazine is not measured",
		file: "slab/internal/percpu/magazine.go",
		old:  "if at := &m.entries[m.n-1]; at.Slot.Len() >= size {", new: "if at := &m.entries[m.n-1]; true {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestARefillIsLongEnough"},
	},
	{
		name: "percpu: Push does not mark the class cache as busy",
		file: "slab/internal/percpu/classcache.go",
		old:  "(kept bool) {\n\tc.busy = 1\n", new: "(kept bool) {\n",
		killer: killer{pkg: "slab/internal/percpu", test: "TestProtocolOfReclaim"},
	},
	{
		name: "percpu: nothing stands in for a barrier that is refused",
		file: "slab/internal/percpu/pin.go",
		old:  "if !pin.Barrier() {", new: "if !pin.Barrier() && false {",
		killer: killer{pkg: "slab/internal/percpu", test: "TestWithoutABarrier"},
	},
	{
		name: "percpu: no late barrier",
		file: "slab/internal/percpu/pin.go",
		old:  "\tif !storesInOrder {\n\t\tbarrier()\n\t}\n", new: "",
		killer: killer{pkg: "slab/internal/percpu", test: "TestProtocolOfReclaim"},
	},
}
