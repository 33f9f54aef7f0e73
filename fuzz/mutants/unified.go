package main

// Mutants of package unified.
var ofUnified = []mutant{
	{
		name: "unified: an array that is kept before its work is done is not looked at",
		file: "unified/keep.go", old: "\tp.lookUnderWay(a)\n", new: "",
		killer: killer{pkg: "unified", test: "TestFreeBeforeWorkIsDoneIsReported"},
	},
	{
		name: "unified: an array that is not kept is reported twice",
		file: "unified/keep.go", old: "wants := p.wants(a)", new: "wants := true",
		killer: killer{pkg: "unified", test: "TestFreeBeforeWorkIsDoneIsReported"},
	},
	{
		name: "unified: all calls that wait for memory hold one side",
		file: "unified/wait.go", old: "\t\tcase p.turn <- struct{}{}:\n", new: "\t\tcase p.turn <- struct{}{}:\n\t\t\t<-p.turn\n\t\t\tdefer func() { p.turn <- struct{}{} }()\n",
		killer: killer{pkg: "unified", test: "TestAcquireContextWaitsForItsTurnWithNothing"},
	},
	{
		name: "unified: a wait that ends keeps the memory of one side",
		file: "unified/wait.go", old: "\t\t\ta.sides[onDevice].release(onDevice)\n", new: "",
		killer: killer{pkg: "unified", test: "TestAcquireContextWaitsForItsTurnWithNothing"},
	},
	{
		name: "unified: a wait that ends loses what was on the device",
		file: "unified/wait.go", old: "if !done && !had {", new: "if !done || had && false {",
		killer: killer{pkg: "unified", test: "TestACancelledAcquireContextPutsBack"},
	},
	{
		name: "unified: a cancelled Acquire frees what was kept",
		file: "unified/keep.go", old: "\t\tp.takeBack(a, 0)\n", new: "\t\ta.free()\n",
		killer: killer{pkg: "unified", test: "TestACancelledAcquireContextPutsBack"},
	},
	{
		name: "unified: a cancelled Acquire counts as released",
		file: "unified/keep.go", old: "p.takeBack(a, 0)", new: "p.takeBack(a, 1)",
		killer: killer{pkg: "unified", test: "TestACancelledAcquireContextPutsBack"},
	},
	{
		name: "unified: With keeps its buffer",
		file: "unified/with.go", old: "\tdefer b.Release()\n", new: "",
		killer: killer{pkg: "unified", test: "TestWithReleases"},
	},
	{
		name: "unified: a copy under way does not keep its memory",
		file: "unified/uses.go", old: "if err := a.usedOn(s); err != nil {\n\t\treturn err\n\t}\n\tu :=", new: "u :=",
		killer: killer{pkg: "unified", test: "TestFreeWhileACopyToTheHostIsUnderWay"},
	},
	{
		name: "unified: a gap that a copy may still leave dirty counts as the dirt beside it",
		file: "unified/uses.go", old: "return u.ours && u.meets(lo, hi) })", new: "return false })",
		killer: killer{pkg: "unified", test: "TestCopyThatFailsLateBetweenManyRanges"},
	},
	{
		name: "unified: the caller's work does not keep the memory",
		file: "unified/uses.go", old: "return a.usedOn(s)\n", new: "return nil\n",
		killer: killer{pkg: "unified", test: "TestFreeWaitsForWorkUnderWay"},
	},
	{
		name: "unified: an error comes while the copy goes on",
		file: "unified/uses.go", old: "\t\t_ = s.Sync() // nothing of it may be going on when the caller hears of this\n", new: "",
		killer: killer{pkg: "unified", test: "TestErrorComesAfterTheCopy"},
	},
	{
		name: "unified: only the device side is kept for a stream",
		file: "unified/store.go", old: "if m := &a.sides[d]; m.has {", new: "if m := &a.sides[d]; m.has && side(d) == onDevice {",
		killer: killer{pkg: "unified", test: "TestFreeWhileACopyToTheHostIsUnderWay"},
	},
	{
		name: "unified: a write does not wait for what reads",
		file: "unified/uses.go", old: "(u.writes[d] || writes && u.reads[d])", new: "u.writes[d]",
		killer: killer{pkg: "unified", test: "TestHostWriteWaitsForItsElementsOnly"},
	},
	{
		name: "unified: a copy does not wait for who writes its source",
		file: "unified/uses.go", old: "!again && err == nil && x.do == pull", new: "false",
		killer: killer{pkg: "unified", test: "TestHostWaitsForTheKernel"},
	},
	{
		name: "unified: what a copy covers without need is forgiven its failure",
		file: "unified/uses.go", old: "y.state == Synchronized, s)", new: "false, s)",
		killer: killer{pkg: "unified", test: "TestAFailureSurvivesACopyOverIt"},
	},
	{
		name: "unified: a copy does not wait for who uses its target",
		file: "unified/uses.go", old: "d, true, y.state == Synchronized, s)", new: "d, false, y.state == Synchronized, s)",
		killer: killer{pkg: "unified", test: "TestReadersDoNotWait"},
	},
	{
		name: "unified: a stream does not wait for another",
		file: "unified/uses.go", old: "err = u.hold(s) // which passes a failure on", new: "",
		killer: killer{pkg: "unified", test: "TestStreamsWaitForEachOther"},
	},
	{
		name: "unified: a copy that failed counts as done",
		file: "unified/uses.go", old: "\t\tagain, err = true, nil\n\t\ta.undo(i)\n", new: "\t\ta.uses, err = slices.Delete(a.uses, i, i+1), nil\n",
		killer: killer{pkg: "unified", test: "TestCopyThatFailsLate"},
	},
	{
		name: "unified: work built on a copy that failed counts as done",
		file: "unified/uses.go", old: "later.ours && later.meets(u.lo, u.hi)", new: "false",
		killer: killer{pkg: "unified", test: "TestWorkBuiltOnWorkThatFails"},
	},
	{
		name: "unified: a failure is forgotten for elements not written anew",
		file: "unified/uses.go", old: "slices.Replace(a.uses, i, i+1, u.outside(lo, hi)...)", new: "slices.Delete(a.uses, i, i+1)",
		killer: killer{pkg: "unified", test: "TestKernelThatFailsLate"},
	},
	{
		name: "unified: a reader makes an earlier writer forgotten",
		file: "unified/uses.go", old: "u.lo <= old.lo && old.hi <= u.hi &&\n\t\t(u.writes[onDevice] || !old.writes[onDevice])", new: "u.lo <= old.lo && old.hi <= u.hi",
		killer: killer{pkg: "unified", test: "TestReaderAfterWriter"},
	},
	{
		name: "unified: work on other elements is forgotten",
		file: "unified/uses.go", old: "u.lo <= old.lo && old.hi <= u.hi &&\n", new: "u.meets(old.lo, old.hi) &&\n",
		killer: killer{pkg: "unified", test: "TestMemoryOfTheStreamsEarlierWork"},
	},
	{
		name: "unified: a stream's earlier work is not waited for",
		file: "unified/store.go", old: "\ta.uses = append(a.uses, before)\n", new: "",
		killer: killer{pkg: "unified", test: "TestMemoryOfTheStreamsEarlierWork"},
	},
	{
		name: "unified: memory that the CPU cannot reach is lost",
		file: "unified/store.go", old: "\terr := m.buf.Release()\n\treturn errors.Join(", new: "\tvar err error\n\treturn errors.Join(",
		killer: killer{pkg: "unified", test: "TestPoolOnErrors"},
	},
	{
		name: "unified: Free keeps the device side",
		file: "unified/array.go", old: "\tdefer a.sides[onDevice].release(onDevice)\n", new: "",
		killer: killer{pkg: "unified", test: "TestBuffersShareMemory"},
	},
	{
		name: "unified: a forgotten array's device memory is lost",
		file: "unified/store.go", old: "m.watch = runtime.AddCleanup(a, func(b slab.PooledBuffer) { go b.Release() }, m.buf)", new: "_ = runtime.AddCleanup(a, func(b slab.PooledBuffer) {}, m.buf)",
		killer: killer{pkg: "unified", test: "TestForgottenBuffers"},
	},
	{
		name: "unified: a freed array releases its memory again when it is found",
		file: "unified/store.go", old: "\t\tm.watch.Stop()\n", new: "",
		killer: killer{pkg: "unified", test: "TestFreedBuffersAreReleasedOnce"},
	},
	{
		name: "unified: a block begins at the region's first byte",
		file: "unified/array.go", old: "Off: b.Off + lo*a.elem", new: "Off: lo * a.elem",
		killer: killer{pkg: "unified", test: "TestFreeWhileInUse"},
	},
	{
		name: "unified: a write on the host leaves the device current",
		file: "unified/state.go", old: "sy: {{none, sy}, {none, hd}", new: "sy: {{none, sy}, {none, sy}",
		killer: killer{pkg: "unified", test: "TestCopiesAreMinimal"},
	},
	{
		name: "unified: a copy back overwrites what the host wrote",
		file: "unified/state.go", old: "{none, hd}, {none, hd}, {none, hd}, {none, hd}, {none, hd}, {pull, sy}, {pull, dd}, {none, dd}, {pull, sy}, {lose, hd}", new: "{none, hd}, {none, hd}, {none, hd}, {none, hd}, {none, hd}, {pull, sy}, {pull, dd}, {none, dd}, {pull, sy}, {none, dd}",
		killer: killer{pkg: "unified", test: "TestLossOneSideMarkedWhileTheOtherIsDirty"},
	},
	{
		name: "unified: an access changes its state before it is done",
		file: "unified/array.go", old: "\tfor _, x := range steps {\n\t\tif err := a.take", new: "\ta.res.grant(lo, hi, c)\n\tfor _, x := range steps {\n\t\tif err := a.take",
		killer: killer{pkg: "unified", test: "TestClosedStream"},
	},
	{
		name: "unified: ranges dirty on different sides become one",
		file: "unified/residency.go", old: "|| s != r.ranges[i+1].state ||", new: "||",
		killer: killer{pkg: "unified", test: "TestOppositeSidesStayApart"},
	},
	{
		name: "unified: a copy goes over what is dirty on its side",
		file: "unified/residency.go", old: "\t\tcase s.state != Synchronized:\n\t\t\tlast = -1\n", new: "",
		killer: killer{pkg: "unified", test: "TestCopiesAreMinimal"},
	},
	{
		name: "unified: a change goes one element too far",
		file: "unified/residency.go", old: "grow(out, max(from, lo), min(x.end, hi), next(x.state))", new: "grow(out, max(from, lo), min(x.end, hi+1), next(x.state))",
		killer: killer{pkg: "unified", test: "TestCopiesAreMinimal"},
	},
	{
		name: "unified: the host side can be freed twice",
		file: "unified/buffer.go", old: "\tb.own.over = true\n", new: "",
		killer: killer{pkg: "unified", test: "TestFreeInManyGoroutines"},
	},
	{
		name: "unified: a view's view is of the whole",
		file: "unified/view.go", old: "lo: b.lo + i, hi: b.lo + j", new: "lo: i, hi: j",
		killer: killer{pkg: "unified", test: "TestViews"},
	},
	{
		name: "unified: a slice of a range can be appended past it",
		file: "unified/host.go", old: "[b.lo:b.hi:b.hi]", new: "[b.lo:b.hi]",
		killer: killer{pkg: "unified", test: "TestLengthsAndRanges"},
	},
	{
		name: "unified: a pool keeps one buffer too many",
		file: "unified/keep.go", old: "p.age.Len() == p.c.MaxBuffers", new: "p.age.Len() > p.c.MaxBuffers",
		killer: killer{pkg: "unified", test: "TestPoolKeepsAHundred"},
	},
	{
		name: "unified: a full pool drops the buffer released last",
		file: "unified/keep.go", old: "p.removeLocked(p.age.Front())", new: "p.removeLocked(p.age.Back())",
		killer: killer{pkg: "unified", test: "TestPoolKeepsAHundred"},
	},
	{
		name: "unified: pinned and pageable buffers are mixed",
		file: "unified/pool.go", old: "fmt.Sprint(dims), pinned}", new: "fmt.Sprint(dims), false}",
		killer: killer{pkg: "unified", test: "TestPoolMatchesExactly"},
	},
	{
		name: "unified: a slab.Pool without room does not ask",
		file: "unified/keep.go", old: "\t\ts.AddReclaimer(p)\n", new: "\t\t_ = s\n",
		killer: killer{pkg: "unified", test: "TestPoolOnSlabPools"},
	},
	{
		name: "unified: a pool keeps buffers after StopHolding",
		file: "unified/keep.go", old: "!p.stops && p.c.MaxBuffers >= 0", new: "p.c.MaxBuffers >= 0",
		killer: killer{pkg: "unified", test: "TestStopHoldingKeepsNothing"},
	},
	{
		name: "unified: a forgotten pool is still asked",
		file: "unified/keep.go", old: "\t\ts.RemoveReclaimer(p)\n", new: "\t\t_ = s\n",
		killer: killer{pkg: "unified", test: "TestForgottenPoolIsNotKept"},
	},
	{
		name: "unified: FreeHeld leaves the kept buffers in the pool",
		file: "unified/keep.go", old: "p.age, p.like, p.bytes = list.New(), map[kind][]*list.Element{}, 0", new: "p.bytes = 0",
		killer: killer{pkg: "unified", test: "TestPoolClear"},
	},
	{
		name: "unified: the memory of a device that was forgotten stays",
		file: "unified/memories.go", old: "\t\te.strong = nil\n", new: "",
		killer: killer{pkg: "unified", test: "TestDevicesAreNotKept"},
	},
	{
		name: "unified: a device's memory goes with the first collection",
		file: "unified/memories.go", old: "time.Since(e.used) >= idleMemory", new: "true",
		killer: killer{pkg: "unified", test: "TestDevicesAreNotKept"},
	},
	{
		name: "unified: a Put of a buffer's memory is taken",
		file: "unified/store.go", old: "\tm.buf.Hide() //", new: "\t//",
		killer: killer{pkg: "unified", test: "TestPutRefusesWhatABufferHas"},
	},
	{
		name: "unified: page-locked memory from past the host pool's budget",
		file: "unified/memory.go", old: "\t\tm.pinned = m.host\n\t\tif !isPinned(host) {", new: "\t\tif isPinned(host) {\n\t\t\tm.pinned = m.host\n\t\t}\n\t\tif false {",
		killer: killer{pkg: "unified", test: "TestPoolOnErrors"},
	},
}
