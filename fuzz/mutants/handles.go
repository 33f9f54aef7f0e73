package main

import "slices"

var ofHandles = slices.Concat(ofSlots, ofQueues)

// Mutants of slots and regions.
var ofSlots = []mutant{
	{
		name: "handle: a release does not end the generation",
		file: "slab/internal/handle/slot.go",
		old:  "(gen, gen+nextGen)", new: "(gen, gen)",
		killer: killer{pkg: "slab/internal/handle", test: "TestAForgottenPartUnpins"}, fast: true,
	},
	{
		name: "handle: a release of a pinned slot is forgotten",
		file: "slab/internal/handle/slot.go",
		old:  "\t\t\tnext |= ended\n", new: "\t\t\t_ = ended\n",
		killer: killer{pkg: "slab/internal/handle", test: "TestAForgottenPartUnpins"},
	},
	{
		name: "handle: a recycled slot is still ended",
		file: "slab/internal/handle/slot.go",
		old:  "\ts.word.Store(w &^ ended)", new: "\t_ = w &^ ended",
		killer: killer{pkg: "slab/internal/handle", test: "TestPartsPinTheirRoot"},
	},
	{
		name: "handle: any unpin after the release recycles",
		file: "slab/internal/handle/slot.go",
		old:  "w&pinMask != 0 || w&ended == 0", new: "w&ended == 0",
		killer: killer{pkg: "slab/internal/handle", test: "TestLastUnpinRecycles"},
	},
	{
		name: "handle: a pinned slot is found forgotten",
		file: "slab/internal/handle/slot.go",
		old:  "return w&pinMask == 0 && s.word", new: "return s.word",
		killer: killer{pkg: "slab/internal/handle", test: "TestAPinnedSlotIsNotForgotten"},
	},
	{
		name: "handle: pins overflow into the marks",
		file: "slab/internal/handle/slot.go",
		old:  "w&pinMask == pinMask", new: "false",
		killer: killer{pkg: "slab/internal/handle", test: "TestPinsHaveAnEnd"},
	},
	{
		name: "handle: Grow takes a slot that another has pinned",
		file: "slab/internal/handle/slot.go",
		old:  "(gen+1, gen+nextGen)", new: "(s.word.Load(), gen+nextGen)",
		killer: killer{pkg: "slab", test: "TestGrowWithinWith"},
	},
	{
		name: "handle: a new owner has what the last one had",
		file: "slab/internal/handle/lent.go",
		old:  "s.setOwner(uint32(size), lentTo(gen))", new: "s.setOwner(uint32(size), s.lent.get()&(1<<lentBits-1)|lentTo(gen))",
		killer: killer{pkg: "slab/internal/handle", test: "TestASlotThatWasFoundBySliceIsAlive"},
	},
	{
		name: "handle: a new owner has shown what the last one did",
		file: "slab/internal/handle/owned.go",
		old:  "= asked, lending{to: to} }", new: "= asked, lending{to, s.lent.slice} }",
		killer: killer{pkg: "slab/internal/handle", test: "TestEscapeIsOfOneGeneration"},
	},
	{
		name: "handle: a late Escape of the last owner hides the slice of the next",
		file: "slab/internal/handle/lent.go",
		old:  "func (s *Slot) Escape() { s.lent.escape() }", new: "func (s *Slot) Escape() { s.lent.escape(); s.lent.set(s.lent.get() &^ bySlice) }",
		killer: killer{pkg: "slab/internal/handle", test: "TestALateEscapeHidesNone"},
	},
	{
		name: "handle: Escape is not noted",
		file: "slab/internal/handle/lent.go",
		old:  "func (s *Slot) Escape() { s.lent.escape() }", new: "func (s *Slot) Escape() {}",
		killer: killer{pkg: "slab/internal/handle", test: "TestAForgottenPartUnpins"},
	},
	{
		name: "handle: a forgotten part leaves no mark on its block",
		file: "slab/internal/handle/finalize.go",
		old:  "p.root.SetStray()", new: "_ = p.root",
		killer: killer{pkg: "slab/internal/handle", test: "TestAForgottenPartUnpins"},
	},
	{
		name: "handle: the mark of a stray slice stays",
		file: "slab/internal/handle/slot.go",
		old:  "s.word.Store(w &^ bit)\n\treturn true", new: "return true",
		killer: killer{pkg: "slab/internal/handle", test: "TestStray"},
	},
	{
		name: "handle: one part more than there may be",
		file: "slab/internal/handle/part.go",
		old:  "w&pinMask >= uint64(most)", new: "w&pinMask > uint64(most)",
		killer: killer{pkg: "slab", test: "TestTooManyParts"},
	},
	{
		name: "handle: parts of a dead region are not counted",
		file: "slab/internal/handle/part.go",
		old:  "handles = int(w & pinMask)", new: "handles = 0",
		killer: killer{pkg: "slab/internal/handle", test: "TestPartsDieWithTheirRegion"},
	},
	{
		name: "handle: a part does not pin its root",
		file: "slab/internal/handle/part.go",
		old:  "if !root.pinMore(most) {", new: "if false {",
		killer: killer{pkg: "slab/internal/handle", test: "TestAForgottenPartUnpins"},
	},
	{
		name: "handle: a removed cell ends the search behind it",
		file: "slab/internal/handle/index.go",
		old:  "if c.of[c.next(i)] != 0 {", new: "if false {",
		killer: killer{pkg: "slab/internal/handle", test: "TestIndexFindsWhatIsAttached"},
	},
	{
		name: "handle: a slice of a released buffer finds the slot",
		file: "slab/internal/handle/index.go",
		old:  "s.lent.get()&^bySlice != lentTo(gen) || ", new: "",
		killer: killer{pkg: "slab/internal/handle", test: "TestFindTellsWhoHasIt"},
	},
	{
		name: "handle: a region that is idle does not keep its memory",
		file: "slab/internal/handle/region.go",
		old:  "\t\tr.collected.Hold()\n", new: "",
		killer: killer{pkg: "slab/internal/handle", test: "TestARegionIsLooseWhileBlocksAreOut"},
	},
	{
		name: "handle: a region with blocks out keeps its memory",
		file: "slab/internal/handle/region.go",
		old:  "\t\tr.collected.Loosen()\n", new: "",
		killer: killer{pkg: "slab/internal/handle", test: "TestARegionIsLooseWhileBlocksAreOut"},
	},
	{
		name: "handle: a region is not watched again",
		file: "slab/internal/handle/finalize.go",
		old:  "\t\tr.collected.Loosen()\n", new: "\t\t_ = r\n",
		killer: killer{pkg: "slab/internal/handle", test: "TestARegionIsWatchedAgainWhileBlocksAreInUse"}, fast: true,
	},
	{
		name: "handle: deferred blocks are lost",
		file: "slab/internal/handle/finalize.go",
		old:  "freed := r.takeDeferred()", new: "var freed []Allocation",
		killer: killer{pkg: "slab/internal/handle", test: "TestAttachDefersWhileItsRegionIsReportedDead"},
	},
	{
		name: "handle: the list of vacant slots keeps a slot alive",
		file: "slab/internal/handle/region.go",
		old:  "(*list)[k-1] = nil // or", new: "_ = (*list)[k-1] // or",
		killer: killer{pkg: "slab/internal/handle", test: "TestAWatchedSlotInUseIsKeptByNothing"},
	},
	{
		name: "handle: a slot is watched once only",
		file: "slab/internal/handle/finalize.go",
		old:  "\ts.watch()\n\tescaped", new: "\tescaped",
		killer: killer{pkg: "slab", test: "TestBudgetOutlastsWhatIsForgotten"},
	},
	{
		name: "handle: an escaped block comes back",
		file: "slab/internal/handle/finalize.go",
		old:  "s.len > 0 && s.MayHaveEscaped() //", new: "s.len > 0 && false //",
		killer: killer{pkg: "slab/internal/handle", test: "TestAnEscapedBlockIsIsolated"},
	},
	{
		name: "handle: a Put that came before the collector's word is lost",
		file: "slab/internal/handle/finalize.go",
		old:  " || t.doubts(s) ||", new: " ||",
		killer: killer{pkg: "slab/internal/handle", test: "TestASlotThatWasFoundBySliceIsAlive"},
	},
	{
		name: "handle: what the program has a slice of is forgotten",
		file: "slab/internal/handle/finalize.go",
		old:  "if s.len > 0 && s.isBySlice() || ", new: "if ",
		killer: killer{pkg: "slab", test: "TestSlicesOffTheHeapStayOut"},
	},
	{
		name: "handle: what was doubted of a slot stays",
		file: "slab/internal/handle/region.go",
		old:  "\t\tdelete(r.table.doubted, s.ID())\n", new: "",
		killer: killer{pkg: "slab/internal/handle", test: "TestASlotThatWasFoundBySliceIsAlive"},
	},
	{
		name: "handle: a region with blocks out is forgotten",
		file: "slab/internal/handle/table.go",
		old:  "!ok || x.attached > 0", new: "!ok",
		killer: killer{pkg: "slab/internal/handle", test: "TestForgetUnwatches"},
	},
	{
		name: "handle: vacant slots of a region that left are still watched",
		file: "slab/internal/handle/table.go",
		old:  "\tt.recent = nil\n\tx.unwatchVacant()\n", new: "\tt.recent = nil\n",
		killer: killer{pkg: "slab/internal/handle", test: "TestForgetUnwatches"},
	},
	{
		name: "handle: a vacant slot that is let go of stays in the index",
		file: "slab/internal/handle/region.go",
		old:  "\t\tr.table.index.leave(s)\n\t\ts.flags", new: "\t\ts.flags",
		killer: killer{pkg: "slab/internal/handle", test: "TestVacantSlotsLeaveTheIndex"},
	},
	{
		name: "handle: watched bytes are not given back",
		file: "slab/internal/handle/region.go",
		old:  "\t\tr.table.watchedBytes.Store(r.table.watchedBytes.Load() - uintptr(b.Len))\n", new: "",
		killer: killer{pkg: "slab/internal/handle", test: "TestASlotThatWasFoundBySliceIsAlive"},
	},
	{
		name: "handle: after Stop vacant slots keep the pool",
		file: "slab/internal/handle/region.go",
		old:  "r.table.stopped {", new: "false {",
		killer: killer{pkg: "slab/internal/handle", test: "TestStopUnwatches"},
	},
	{
		name: "handle: a simple slot stays simple for its next block",
		file: "slab/internal/handle/region.go",
		old:  "s.flags &= watched", new: "_ = watched",
		killer: killer{pkg: "slab/internal/handle", test: "TestAttachBeginsAnew"},
	},
}
