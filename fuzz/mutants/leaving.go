package main

// Mutants of memory of the page heap that goes back, or never again is used.
var ofLeaving = []mutant{
	{
		name: "growpool: an entry is looked for where its key is now",
		file: "growpool/table.go", old: "for i := e.hash; ; i++ {", new: "for i := t.hash(e.key); ; i++ {",
		killer: killer{pkg: "growpool", test: "TestKeysUnlikeThemselvesLeave"},
	},
	{
		name: "pageheap: beside a load nothing is spare",
		file: "slab/internal/pageheap/spare.go",
		old:  "!ended || bytes < leastSpare", new: "ended || bytes < leastSpare",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestTrimBesideALoad"},
	},
	{
		name: "pageheap: what was in use in an epoch is spare after it",
		file: "slab/internal/pageheap/prefill.go",
		old:  "\th.window.most = max(h.window.most, used)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestWhatWasInUseIsNotSpare"},
	},
	{
		name: "pageheap: idle memory goes an epoch late",
		file: "slab/internal/pageheap/release.go",
		old:  ">= int64(idle)", new: "> int64(idle)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestAFreeSegmentIsNotLost"},
	},
	{
		name: "pageheap: idle epochs overflow",
		file: "slab/internal/pageheap/release.go",
		old:  "int64(h.epoch-h.at(i).stamp) >= int64(idle)", new: "int32(h.epoch-h.at(i).stamp) >= int32(idle)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestTrimOfVeryManyEpochsGivesNothingBack"},
	},
	{
		name: "pageheap: draining is asked for at each step",
		file: "slab/internal/pageheap/release.go",
		old:  "\th.drainAt = h.managed + h.managed/drainShare + 1\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestOthersFreeBeforeThePeak"},
	},
	{
		name: "pageheap: a lazy range decommits for little",
		file: "slab/internal/pageheap/release.go",
		old:  " || int64(n) < h.managed/lazyShare)", new: ")",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestLazyRangesDecommitForMuch"},
	},
	{
		name: "pageheap: StopHolding keeps the addresses",
		file: "slab/internal/pageheap/release.go",
		old:  "\th.giveUpAddresses()\n\th.stopped", new: "\th.stopped",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestStopHoldingGivesUpAddresses"},
	},
	{
		name: "pageheap: what is held is not bounded after StopHolding",
		file: "slab/internal/pageheap/release.go",
		old:  "\th.holdNothing()\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestStopHoldingGivesUpAddresses"},
	},
	{
		name: "pageheap: an extent that was taken meanwhile is given back",
		file: "slab/internal/pageheap/leave.go",
		old:  "h.at(i).state != free", new: "false",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestWhatWasTakenMeanwhileStays"},
	},
	{
		name: "pageheap: pages that a neighbour begins in are decommitted",
		file: "slab/internal/pageheap/leave.go",
		old:  "lo, hi := align.Up(x.off, page), align.Down(x.off+x.len, page)", new: "lo, hi := x.off, align.Down(x.off+x.len, page)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestHeapHoldsTogetherAfterEveryStep"},
	},
	{
		name: "pageheap: pages that a neighbour ends in are decommitted",
		file: "slab/internal/pageheap/leave.go",
		old:  "align.Down(x.off+x.len, page)", new: "align.Up(x.off+x.len, page)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestARangeDoesNotGrowUnderChurnAndFreeHeld"}, fast: true,
	},
	{
		name: "pageheap: decommitted pages stay managed",
		file: "slab/internal/pageheap/leave.go",
		old:  "\th.managed -= int64(hi - lo)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestDecommittedPagesServeWhatTheFreeMemoryBeforeThemBegins"},
	},
	{
		name: "pageheap: what could not leave is not managed again",
		file: "slab/internal/pageheap/leave.go",
		old:  "\th.managed += d.bytes\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestMemoryThatCannotGoBackStays"},
	},
	{
		name: "pageheap: what could not leave is lost",
		file: "slab/internal/pageheap/leave.go",
		old:  "\t\th.merge(d.pages, free)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestMemoryThatCannotGoBackStays"},
	},
	{
		name: "pageheap: what a lost device does not take stays",
		file: "slab/internal/pageheap/leave.go",
		old:  " || errors.Is(err, device.ErrDeviceLost)", new: " && !errors.Is(err, device.ErrDeviceLost)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestALostDeviceTakesEverything"},
	},
	{
		name: "pageheap: the end of a range stays up",
		file: "slab/internal/pageheap/leave.go",
		old:  "\t\th.at(e).off = h.at(i).off\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestARangeDoesNotGrowUnderChurnAndFreeHeld"},
	},
	{
		name: "pageheap: pages with live bytes before an extent are given up",
		file: "slab/internal/pageheap/quarantine.go",
		old:  "lo, hi := align.Up(x.off, page), align.Down(x.off+x.len, page)", new: "lo, hi := align.Down(x.off, page), align.Down(x.off+x.len, page)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestHeapHoldsTogetherAfterEveryStep"},
	},
	{
		name: "pageheap: a page that two lost extents share is kept",
		file: "slab/internal/pageheap/quarantine.go",
		old:  "lo = max(align.Up(p.off, page), align.Down(x.off, page))", new: "_ = p",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestQuarantineMerges"},
	},
	{
		name: "pageheap: lost bytes stay in quarantine",
		file: "slab/internal/pageheap/quarantine.go",
		old:  "\th.isolated -= int64(n)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestQuarantineKeepsNoAddressesOfOthers"},
	},
	{
		name: "pageheap: lost bytes stay managed",
		file: "slab/internal/pageheap/quarantine.go",
		old:  "\th.managed -= int64(n)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestQuarantineKeepsNoAddressesOfOthers"},
	},
	{
		name: "pageheap: a new peak gives up segments that are in use",
		file: "slab/internal/pageheap/release.go",
		old:  " || seg.used > 0", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestANewPeakLosesNothing"},
	},
	{
		name: "pageheap: a lost extent counts twice",
		file: "slab/internal/pageheap/quarantine.go",
		old:  "\t\th.forget(n)\n\t\tseg.used, seg.isolated = seg.used-1, seg.isolated-1", new: "\t\th.forget(n)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestQuarantineKeepsNoAddressesOfOthers"},
	},
}
