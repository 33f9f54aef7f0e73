package main

import "slices"

var ofSlab = slices.Concat(ofPools, ofBudgets, ofWaits, ofBuffers)

// Mutants of what a Pool does itself.
var ofPools = []mutant{
	{
		name: "get: where a whole block has no room, what was asked for is not tried",
		file: "slab/get.go",
		old:  "if ask > size && outOfMemory(err) {", new: "if ask > size && err == nil {",
		killer: killer{pkg: "slab", test: "TestBudgetServesWhatFits"},
	},
	{
		name: "get: those who share a budget are not asked",
		file: "slab/fresh.go",
		old:  "\t\t\tb.Reclaim(p)\n", new: "\t\t\t_ = b\n",
		killer: killer{pkg: "slab", test: "TestSharedBudgetWaits"},
	},
	{
		name: "get: what was forgotten is not looked for",
		file: "slab/fresh.go",
		old:  " || !p.gc.Search(u.Gets)", new: " || u.Gets >= 0",
		killer: killer{pkg: "slab", test: "TestBudgetOutlastsWhatIsForgotten"},
	},
	{
		name: "get: a Get without room does not wait for streams",
		file: "slab/fresh.go",
		old:  "for how >= fully && outOfMemory(err) && p.freeOldest() {", new: "for how > growing && outOfMemory(err) && p.freeOldest() {",
		killer: killer{pkg: "slab", test: "TestOutOfMemoryWaitsForTheOldest"},
	},
	{
		name: "get: what a strategy has at hand is not counted",
		file: "slab/fresh.go",
		old:  "\t\t\tstands = p.cache.CountGet(size)\n", new: "",
		killer: killer{pkg: "slab", test: "TestNoOutOfMemoryWhileABlockIsHeld"},
	},
	{
		name: "get: a guard beside a page heap is passed by",
		file: "slab/open.go",
		old:  "ok && p.guard.Guard == nil {", new: "ok {",
		killer: killer{pkg: "slab", test: "TestGuardFindsWritesAfterRelease"},
	},
	{
		name: "release: a page heap holds more than max_held",
		file: "slab/free.go",
		old:  "; over || !ok {", new: "; over && !ok || !ok {",
		killer: killer{pkg: "slab", test: "TestBoundsOfWhatIsHeldIncludeTheCaches"},
	},
	{
		name: "release: a Release that panics wakes no waiter",
		file: "slab/free.go",
		old:  "\tdefer p.freed()\n\tf()\n", new: "\tf()\n\tp.freed()\n",
		killer: killer{pkg: "slab", test: "TestAReleaseThatPanicsWakes"},
	},
	{
		name: "close: the device is closed while buffers are out",
		file: "slab/close.go", old: "if !p.table.IsVacant() || p", new: "if p",
		killer: killer{pkg: "slab", test: "TestADeviceIsOpenUntilNothingIsOut"},
	},
	{
		name: "close: the device is closed with each buffer",
		file: "slab/close.go", old: " || p.deviceClosed.Swap(true) {", new: " {",
		killer: killer{pkg: "slab", test: "TestADeviceIsOpenUntilNothingIsOut"},
	},
	{
		name: "close: the last buffer closes no device",
		file: "slab/free.go", old: "\t\tdefer p.closeDeviceLate()\n", new: "",
		killer: killer{pkg: "slab", test: "TestADeviceIsOpenUntilNothingIsOut"},
	},
	{
		name: "close: what comes back within Close closes the device",
		file: "slab/close.go", old: "if !p.ended.Load() {", new: "if false {",
		killer: killer{pkg: "slab", test: "TestCloseReturnsTheErrorOfTheDevice"},
	},
	{
		name: "close: a buffer of a forgotten Pool cannot grow",
		file: "slab/close.go", old: "return p.closed.Load() && !p.abandoned.Load()", new: "return p.closed.Load()",
		killer: killer{pkg: "slab", test: "TestBuffersOfAForgottenPoolDoAllTheyCould"},
	},
	{
		name: "close: a buffer of a closed pool grows",
		file: "slab/close.go", old: "\tif p.closed.Load() {\n\t\treturn\n", new: "\tif false {\n\t\treturn\n",
		killer: killer{pkg: "slab", test: "TestAClosedPoolThatIsForgottenIsClosed"},
	},
	{
		name:   "reclaim: a Close that panics is never over",
		file:   "slab/close.go",
		old:    "\tdefer func() { err = p.end() }() // also if the upstream panics\n\tp.stopHolding(below(p.upstream).FreeHeld)\n\treturn nil\n",
		new:    "\tp.stopHolding(below(p.upstream).FreeHeld)\n\treturn p.end()\n",
		killer: killer{pkg: "slab", test: "TestACloseThatPanicsIsOver"},
	},
	{
		name: "release: what a stream uses is free at once",
		file: "slab/release.go",
		old:  "if e.Slot.Streamed() {", new: "if false {",
		killer: killer{pkg: "slab", test: "TestCheckReportsABufferThatAStreamWroteBeyond"},
	},
	{
		name: "release: a stray slice is not minded",
		file: "slab/release.go",
		old:  "if e.Slot.TakeStray() {", new: "if e.Slot.TakeStray() && false {",
		killer: killer{pkg: "slab", test: "TestQuarantineOfAPartWaits"},
	},
	{
		name: "release: what goes to the strategy wakes nobody",
		file: "slab/free.go",
		old:  "if p.closed.Load() || p.waits.hurried.Load() > 0 {", new: "if p.closed.Load() {",
		killer: killer{pkg: "slab", test: "TestWhatMakesRoomWakes"},
	},
	{
		name: "release: an escaped block goes back after its stream",
		file: "slab/pending.go",
		old:  "if b.Escaped {", new: "if false {",
		killer: killer{pkg: "slab", test: "TestQuarantineOfAPartWaits"},
	},
	{
		name: "release: no one sweeps after a Release",
		file: "slab/pending.go",
		old:  "on))\n\tp.sweep()\n", new: "on))\n",
		killer: killer{pkg: "slab", test: "TestReleaseSweeps"},
	},
	{
		name: "release: a closed pool keeps what comes late",
		file: "slab/pending.go",
		old:  "if !p.pending.Add(b) {", new: "if p.pending.Add(b); false {",
		killer: killer{pkg: "slab", test: "TestFailedStreamStealsNothing"},
	},
	{
		name: "forgotten: what comes back wakes nobody",
		file: "slab/forgotten.go",
		old:  "\t}\n\tp.freed()\n}\n\n// regionFound", new: "\t}\n}\n\n// regionFound",
		killer: killer{pkg: "slab", test: "TestWhatMakesRoomWakes"},
	},
	{
		name: "forgotten: free is not done where asked",
		file: "slab/forgotten.go",
		old:  `p.config.OnForget == "free"`, new: `p.config.OnForget == "Free"`,
		killer: killer{pkg: "slab", test: "TestForgottenIsFreedWhereAsked"},
	},
	{
		name: "check: the byte behind a block may be written",
		file: "slab/internal/canary/check.go",
		old:  "m[len(m)-around:]", new: "m[len(m)-around+1:]",
		killer: killer{pkg: "slab", test: "TestCheckPanicsOnceOfABlockThatAPoolReleased"},
	},
	{
		name: "check: the byte before a block may be written",
		file: "slab/internal/canary/check.go",
		old:  "m[:around]", new: "m[:around-1]",
		killer: killer{pkg: "slab", test: "TestCheckFindsWhoWritesBeyond"},
	},
	{
		name: "check: memory that goes upstream is not looked at",
		file: "slab/check.go",
		old:  "\t\tp.accounting.OnLeave(p.check.Leave)\n", new: "",
		killer: killer{pkg: "slab", test: "TestCheckFindsAWriteAfterReleaseWhenMemoryIsGivenBack"},
	},
	{
		name: "leak: what a strategy took over counts twice",
		file: "slab/internal/watch/log.go",
		old:  "\tl.quarantined.Sub(n)\n", new: "",
		killer: killer{pkg: "slab", test: "TestEscapedOffHeapBytesAreQuarantined"},
	},
	{
		name: "scopes: the peak of a scope is not above that around it",
		file: "slab/internal/watch/scopes.go",
		old:  "max(out.PeakBytes, out.Bytes+in.PeakBytes)", new: "max(out.PeakBytes, in.PeakBytes)",
		killer: killer{pkg: "slab/wrap", test: "TestAScopeCountsFromZeroAndFoldsIntoTheOneAround"},
	},
	{
		name: "stats: what waits for streams is not held",
		file: "slab/counts.go",
		old:  "u.HeldBytes + cached.Bytes + deferred.Bytes + waiting.Bytes", new: "u.HeldBytes + cached.Bytes + deferred.Bytes",
		killer: killer{pkg: "slab", test: "TestFailedStreamStealsNothing"},
	},
	{
		name: "metrics: a counter falls",
		file: "slab/stats.go",
		old:  "f.seen[i] = max(f.seen[i], values[i])", new: "f.seen[i] = values[i]",
		killer: killer{pkg: "slab", test: "TestCountersNeverFall"},
	},
	{
		name: "quarantine: a lost block goes to no one",
		file: "slab/free.go",
		old:  "ok && q.quarantine(a.Block, a.Extent)", new: "ok && q == nil",
		killer: killer{pkg: "slab", test: "TestQuarantineWaits"},
	},
}
