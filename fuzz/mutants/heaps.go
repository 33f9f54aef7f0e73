package main

import "slices"

var ofHeaps = slices.Concat(ofPageHeaps, ofLeaving, ofStrategies, ofUpstream, ofGuards, ofObservers)

// Mutants of the page heap.
var ofPageHeaps = []mutant{
	{
		name: "pageheap: a free extent that grows keeps its age",
		file: "slab/internal/pageheap/extent.go",
		old:  "\tx.stamp = e.epoch\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestSplitKeepsTheAgeOfTheRest"},
	},
	{
		name: "pageheap: the rest of a split has a new age",
		file: "slab/internal/pageheap/extent.go",
		old:  "rest.prev, rest.next, rest.stamp = i, x.next, x.stamp", new: "rest.prev, rest.next = i, x.next",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestSplitKeepsTheAgeOfTheRest"},
	},
	{
		name: "pageheap: neighbours below are not merged",
		file: "slab/internal/pageheap/extent.go",
		old:  "p != none && e.at(p).state == s", new: "p != none && s == used",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestDecommittedPagesServeWhatTheFreeMemoryBeforeThemBegins"},
	},
	{
		name: "pageheap: a search begins one list too early",
		file: "slab/internal/pageheap/tlsf.go",
		old:  "return listOf(n + 1<<coarse(n) - 1)", new: "return listOf(n)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestExtentsSplitAndMergeLikeAModel"},
	},
	{
		name: "pageheap: an extent in the middle of its list stays linked",
		file: "slab/internal/pageheap/tlsf.go",
		old:  "\t\te.at(up).down = down\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestARangeDoesNotGrowUnderChurnAndFreeHeld"},
	},
	{
		name: "pageheap: without room for more the heap asks for no less",
		file: "slab/internal/pageheap/grow.go",
		old:  "err = h.growOnce(n, true)\n\t}\n\tif", new: "_ = n\n\t}\n\tif",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestTheLadderOfOutOfMemory"},
	},
	{
		name: "pageheap: nothing that is free is given back for room",
		file: "slab/internal/pageheap/grow.go",
		old:  " && h.releaseIdle(0) > 0", new: " && false",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestScatteredPagesMakeRoom"},
	},
	{
		name: "pageheap: a range without memory stays open",
		file: "slab/internal/pageheap/grow.go",
		old:  "\t\t\th.closeUnused(p)\n", new: "",
		killer: killer{pkg: "slab", test: "TestRangeWithoutMemoryIsClosed"},
	},
	{
		name: "pageheap: two that grow at once grow twice",
		file: "slab/internal/pageheap/grow.go",
		old:  "if h.fits(n) {", new: "if false {",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestGrowthThatAnotherHasMadeIsEnough"},
	},
	{
		name: "pageheap: a lazy range asks for the Gets each time",
		file: "slab/internal/pageheap/grow.go",
		old:  "!h.isLazy(h.current) ||", new: "true ||",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestGetsAreAskedForWhereTheyCount"},
	},
	{
		name: "pageheap: the peak goes down",
		file: "slab/internal/pageheap/policy.go",
		old:  "g.high = max(g.high, managed)", new: "g.high = managed",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestFreePagesGoBeforeThePeak"},
	},
	{
		name: "pageheap: a segment goes beyond what may be held",
		file: "slab/internal/pageheap/plan.go",
		old:  "return min(n, align.Up(need, page)+align.Down(int(h.maxHeld), page))", new: "return n",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestHeapHoldsAtMostMaxHeld"},
	},
	{
		name: "pageheap: page-locked memory has head-room",
		file: "slab/internal/pageheap/grow.go",
		old:  "case h.options.Locked:", new: "case false:",
		killer: killer{pkg: "slab", test: "TestPageLockedMemoryHasNoHeadRoom"},
	},
	{
		name: "pageheap: what a region has beyond its segment is free",
		file: "slab/internal/pageheap/grow.go",
		old:  "\th.excess += whole - int64(size)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestRegionsLargerThanAskedAreUnusable"},
	},
	{
		name: "pageheap: a decommitted extent becomes free beyond its pages",
		file: "slab/internal/pageheap/grow.go",
		old:  "h.front(p.extent, p.len)", new: "h.unlist(h.at(p.extent))",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestARangeDoesNotGrowUnderChurnAndFreeHeld"},
	},
	{
		name: "pageheap: the page map keeps the extent behind the first",
		file: "slab/internal/pageheap/block.go",
		old:  " || m.at(*first).off > x.off", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestARangeDoesNotGrowUnderChurnAndFreeHeld"},
	},
	{
		name: "pageheap: the page map forgets the extents behind a freed one",
		file: "slab/internal/pageheap/block.go",
		old:  "\t\t\t*first = n\n\t\t\treturn\n", new: "\t\t\treturn\n",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestARangeDoesNotGrowUnderChurnAndFreeHeld"},
	},
	{
		name: "pageheap: a page without extents counts as one with some",
		file: "slab/internal/pageheap/block.go",
		old:  "\tm.segs[x.seg].begins.Clear(page)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestFreePagesGoBeforeThePeak"},
	},
	{
		name: "pageheap: a lookup gives up a page too early",
		file: "slab/internal/pageheap/block.go",
		old:  "p >= max(0,", new: "p > max(0,",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestALostDeviceTakesEverything"},
	},
	{
		name: "pageheap: a place is taken that reaches into the next extent",
		file: "slab/internal/pageheap/place.go",
		old:  "m.freeLen(i)-n < off-m.at(i).off", new: "m.freeLen(i) < off-m.at(i).off",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestAllocAtRefusesOddPlaces"},
	},
	{
		name: "pageheap: odd places are taken",
		file: "slab/internal/pageheap/place.go",
		old:  " || off&(m.align-1) != 0", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestAllocAtRefusesOddPlaces"},
	},
	{
		name: "pageheap: a closed range is still the one that grows",
		file: "slab/internal/pageheap/segment.go",
		old:  "\tif m.current == s {\n\t\tm.current = -1\n\t}\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestHeapHoldsTogetherAfterEveryStep"},
	},
	{
		name: "pageheap: the first range takes all addresses",
		file: "slab/internal/pageheap/range.go",
		old:  "firstRange = 64 << 20", new: "firstRange = 64 << 30",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestRangesBeginSmallAndMultiply"},
	},
	{
		name: "pageheap: a range too small for its block is used",
		file: "slab/internal/pageheap/range.go",
		old:  "r.Region().Size() < n+r.Page()", new: "r.Region().Size() < 0",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestABlockLargerThanARangeHasASegment"},
	},
	{
		name: "pageheap: an extended block has the wrong length",
		file: "slab/internal/pageheap/extend.go",
		old:  "\t\t\th.at(i).excess = uint32(h.at(i).len - size)\n", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestHeapHoldsTogetherAfterEveryStep"},
	},
	{
		name: "pageheap: Extend takes memory of a block that was released",
		file: "slab/internal/pageheap/extend.go",
		old:  "if !take() {", new: "if take(); false {",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestHeapHoldsTogetherAfterEveryStep"},
	},
	{
		name: "pageheap: growth takes a decommitted extent that is too short",
		file: "slab/internal/pageheap/extend.go",
		old:  "return p, need, p.len <= h.at(after).len", new: "return p, need, true",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestRoomyBlocksGrowSideBySide"},
	},
	{
		name: "pageheap: growth ends where the first step does not fit",
		file: "slab/internal/pageheap/extend.go",
		old:  "\t\terr = h.commitAfter(i, n, true)\n", new: "\t\t_ = n\n",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestGrowthWithoutRoomForAStep"},
	},
	{
		name: "pageheap: a block in the middle is cut off its alignment",
		file: "slab/internal/pageheap/roomy.go",
		old:  "align.Down(min(h.at(i).len/2, most), h.align)", new: "min(h.at(i).len/2, most+1)",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestRoomyBlocksGrowSideBySide"},
	},
	{
		name: "pageheap: growth takes new pages whatever is free",
		file: "slab/internal/pageheap/extend.go",
		old:  "h.hasRoom(need, n)", new: "false",
		killer: killer{pkg: "slab", test: "TestGrowthUsesWhatIsFree"},
	},
	{
		name: "pageheap: what moves takes a place apart whatever is free",
		file: "slab/internal/pageheap/roomy.go",
		old:  " && !h.hasRoom(n, n)", new: "",
		killer: killer{pkg: "slab", test: "TestGrowthUsesWhatIsFree"},
	},
	{
		name: "pageheap: growth gives back what it is about to use",
		file: "slab/internal/pageheap/makegood.go",
		old:  " || i != none && h.at(i).next == other", new: "",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestGrowthKeepsWhatItUses"},
	},
	{
		name: "pageheap: a free tail counts for nothing",
		file: "slab/internal/pageheap/plan.go",
		old:  "need := max(n-h.freeLen(h.top(h.current)), 1)", new: "need := n",
		killer: killer{pkg: "slab/internal/pageheap", test: "TestAFreeTopIsUsed"},
	},
}
