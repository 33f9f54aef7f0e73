package main

// Mutants of package growpool.
var ofGrowpool = []mutant{
	{
		name: "growpool: a request of nothing is a miss",
		file: "growpool/miss.go", old: "\tif n == 0 {\n", new: "\tif false {\n",
		killer: killer{pkg: "growpool", test: "TestNothingIsServed"},
	},
	{
		name: "growpool: the shape of nothing is forgotten",
		file: "growpool/get.go", old: "len(shape) > 2 || d.n == 0", new: "len(shape) > 2",
		killer: killer{pkg: "growpool", test: "TestNothingIsServed"},
	},
	{
		name: "growpool: With keeps its lease",
		file: "growpool/with.go", old: "\tdefer l.Release()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestWithReleases"},
	},
	{
		name: "growpool: a lease does not come after the streams before it",
		file: "growpool/uses.go", old: "\tif len(events) == 0 {\n\t\treturn nil", new: "\tif true {\n\t\treturn nil",
		killer: killer{pkg: "growpool", test: "TestReleaseBeforeTheWorkIsDone"}, fast: true,
	},
	{
		name: "growpool: the slab.Pool does not hear of streams",
		file: "growpool/uses.go", old: "err := b.handle.UsedOn(s); err != nil {", new: "err := error(nil); err != nil {",
		killer: killer{pkg: "growpool", test: "TestMemoryThatTheKeyLosesWaitsForStreams"},
	},
	{
		name: "growpool: a lease that ends before its work is not looked at",
		file: "growpool/lease.go", old: "\tl.from.lookUnderWay(l.lent)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestCheckReportsALeaseUnderWay"},
	},
	{
		name: "growpool: a lease has named what the owner before has",
		file: "growpool/uses.go", old: "if x.event == nil {", new: "if true {",
		killer: killer{pkg: "growpool", test: "TestCheckReportsALeaseUnderWay"},
	},
	{
		name: "growpool: a lease is reported whose memory goes back, too",
		file: "growpool/uses.go", old: "b.now().refs() > 1", new: "b.now().refs() > 0",
		killer: killer{pkg: "growpool", test: "TestCheckReportsALeaseUnderWay"},
	},
	{
		name: "growpool: Get shows a buffer that streams use",
		file: "growpool/buffer.go", old: "if len(b.uses.list) == 0 {", new: "if true {",
		killer: killer{pkg: "growpool", test: "TestABufferInUseIsNotShown"},
	},
	{
		name: "growpool: Get does not come after the streams before it",
		file: "growpool/get.go", old: "len(before) > 0 {", new: "false {",
		killer: killer{pkg: "growpool", test: "TestGetWaitsForStreams"},
	},
	{
		name: "growpool: AcquireOn does not count as used from the start",
		file: "growpool/lease.go", old: "err := l.UsedOn(s); err != nil", new: "err := error(nil); err != nil",
		killer: killer{pkg: "growpool", test: "TestReleaseBeforeTheWorkIsDone"},
	},
	{
		name: "growpool: Acquire leaves the buffer where Get finds it",
		file: "growpool/lease.go", old: "\t\tb.hide()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestGetOfALeasedKeyFails"},
	},
	{
		name: "growpool: a miss that fails stays in the cache",
		file: "growpool/miss.go", old: "p.budget.free(size)\n\t\t\tp.expel(e)\n", new: "p.budget.free(size)\n",
		killer: killer{pkg: "growpool", test: "TestFailedMissIsUndoneInTheCache"},
	},
	{
		name: "growpool: a miss that fails keeps its reservation",
		file: "growpool/miss.go", old: "p.budget.free(size)\n\t\t\tp.expel(e)\n", new: "p.expel(e)\n",
		killer: killer{pkg: "growpool", test: "TestFailedMissIsUndoneInTheCache"},
	},
	{
		name: "growpool: a lease without room keeps its reservation",
		file: "growpool/miss.go", old: "\t\t\tp.budget.free(size)\n\t\t}\n", new: "\t\t}\n",
		killer: killer{pkg: "growpool", test: "TestFailedMissIsUndoneInTheCache"},
	},
	{
		name: "growpool: a buffer comes back though the cache has no room",
		file: "growpool/miss.go", old: "\t\t\tp.evict(old)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestFailedMissIsUndoneInTheCache"},
	},
	{
		name: "growpool: a buffer comes back past the budget",
		file: "growpool/miss.go", old: "old != nil && p.budget.reserve(old.size)", new: "old != nil",
		killer: killer{pkg: "growpool", test: "TestFailedMissIsUndoneInTheCache"},
	},
	{
		name: "growpool: an unlock wakes nobody who waits for memory",
		file: "growpool/entry.go", old: "\tp.slab.Offer()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestAcquireWaitsForMemory"},
	},
	{
		name: "growpool: the entry of a lease leaves the table",
		file: "growpool/entry.go", old: "!e.turn.taken && (p.policy", new: "(p.policy",
		killer: killer{pkg: "growpool", test: "TestACancelledAcquireChangesNothing"},
	},
	{
		name: "growpool: a buffer evicted while it was made is published",
		file: "growpool/miss.go", old: "\t\te.cur.CompareAndSwap(b, nil)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestEvictedWhileItIsMade"},
	},
	{
		name: "growpool: the budget's last byte cannot be had",
		file: "growpool/budget.go", old: "int64(n) > b.max-b.held", new: "int64(n) >= b.max-b.held",
		killer: killer{pkg: "growpool", test: "TestLeasesTakeTheRoomOfIdleKeys"},
	},
	{
		name: "growpool: a hit holds a buffer that is gone",
		file: "growpool/buffer.go", old: "for l := b.now(); l.refs() > 0; l = b.now() {", new: "for l := b.now(); ; l = b.now() {",
		killer: killer{pkg: "growpool", test: "TestEveryCell"},
	},
	{
		name: "growpool: what Get has shown is released",
		file: "growpool/state.go", old: "ke: {{xx, xx}, {xx, xx}, {sh, no}", new: "ke: {{xx, xx}, {xx, xx}, {ke, no}",
		killer: killer{pkg: "growpool", test: "TestTriggerBoundsWhatIsLeftToTheCollector"},
	},
	{
		name: "growpool: an evicted lease's bytes stay in the budget",
		file: "growpool/state.go", old: "{ds, no}, {dr, no}, {xx, xx}, {dr, no}, {gn, gr}", new: "{ds, no}, {dr, no}, {xx, xx}, {dr, no}, {gn, gb}",
		killer: killer{pkg: "growpool", test: "TestCloseEndsWaiting"},
	},
	{
		name: "growpool: the last that came has the next turn",
		file: "growpool/entry.go", old: "close(t.waiting[0])\n\tt.waiting = slices.Delete(t.waiting, 0, 1)", new: "n := len(t.waiting) - 1\n\tclose(t.waiting[n])\n\tt.waiting = t.waiting[:n]",
		killer: killer{pkg: "growpool", test: "TestAcquireWaitsFirstComeFirstServed"},
	},
	{
		name: "growpool: a turn that comes too late is lost",
		file: "growpool/entry.go", old: "\t\treturn\n\t}\n\tt.pass()\n", new: "\t\treturn\n\t}\n",
		killer: killer{pkg: "growpool", test: "TestTurnIsPassedOnWhenItComesTooLate"},
	},
	{
		name: "growpool: Close leaves Acquire its turn",
		file: "growpool/lease.go", old: "err == nil && p.closed.Load()", new: "err == nil && false",
		killer: killer{pkg: "growpool", test: "TestCloseEndsWaiting"},
	},
	{
		name: "growpool: a key keeps what it waited for beside StopHolding",
		file: "growpool/miss.go", old: "wait != noWait && p.stopped.Load()", new: "false",
		killer: killer{pkg: "growpool", test: "TestStopHoldingBesideAWait"},
	},
	{
		name: "growpool: after a panic the key is without its buffer",
		file: "growpool/miss.go", old: "\t\t\tp.reattach(e, old, have)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestAPanicUndoesAMiss"},
	},
	{
		name: "growpool: a lease without room keeps its turn",
		file: "growpool/lease.go", old: "\t\t\te.turn.pass()\n\t\t}\n", new: "\t\t}\n",
		killer: killer{pkg: "growpool", test: "TestNoRoomForALeaseLeavesTheTurn"},
	},
	{
		name: "growpool: after StopHolding the slab.Pool keeps a lease's memory",
		file: "growpool/lease.go", old: "if p.stopped.Load() {\n\t\tdefer", new: "if false {\n\t\tdefer",
		killer: killer{pkg: "growpool", test: "TestStopHoldingKeepsNothing"},
	},
	{
		name: "growpool: a misaligned lease is lost",
		file: "growpool/lease.go", old: "\t\tb.drop()\n\t\treturn nil, err\n\t}\n\treturn b, nil", new: "\t\treturn nil, err\n\t}\n\treturn b, nil",
		equivalent: "memory of a slab.Pool is a multiple of 8 at least, which it verifies, and no type of Go wants more",
	},
	{
		name: "growpool: a misaligned private buffer is lost",
		file: "growpool/lease.go", old: "\t\tb.drop()\n\t\treturn nil, err\n\t}\n\tif e.dead", new: "\t\treturn nil, err\n\t}\n\tif e.dead",
		equivalent: "memory of a slab.Pool is a multiple of 8 at least, which it verifies, and no type of Go wants more",
	},
	{
		name: "growpool: a miss of a dead key is not counted",
		file: "growpool/lease.go", old: "\t\tp.remember(KeyStats{Misses: 1})\n", new: "",
		killer: killer{pkg: "growpool", test: "TestAWaitThatOutlivesItsKeyCounts"},
	},
	{
		name: "growpool: a hit of one element too many",
		file: "growpool/get.go", old: "uint(shape[0]-1) < uint(b.size)", new: "uint(shape[0]-1) <= uint(b.size)",
		killer: killer{pkg: "growpool", test: "TestValidUntilALargerGetOfTheKey"},
	},
	{
		name: "growpool: a hit with another type is not checked",
		file: "growpool/get.go", old: "b != nil && atomic.LoadPointer(&b.word) == wordOf[T]() && uint(", new: "b != nil && atomic.LoadPointer(&b.word) != nil && uint(",
		killer: killer{pkg: "growpool", test: "TestElementsWithPointersAreRefused"},
	},
	{
		name: "growpool: a hit is not told to the cache",
		file: "growpool/miss.go", old: "\t\tp.policy.touch(e.id)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestEveryUseIsToldToTheCache"},
	},
	{
		name: "growpool: no collection before there is no room",
		file: "growpool/miss.go", old: "l.since.Load() == 0 { // or", new: "l.since.Load() >= 0 { // or",
		killer: killer{pkg: "growpool", test: "TestNoRoomIsSaidAfterACollection"},
	},
	{
		name: "growpool: what is left to the collector grows without a collection",
		file: "growpool/miss.go", old: "\tl.relieve()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestTriggerBoundsWhatIsLeftToTheCollector"},
	},
	{
		name: "growpool: a lease evicts the hottest key",
		file: "growpool/room.go", old: "n < fewest", new: "n > fewest || least == nil",
		killer: killer{pkg: "growpool", test: "TestALeaseTakesTheLeastUsed"},
	},
	{
		name: "growpool: what the collector found is still counted",
		file: "growpool/left.go", old: "a.left.now.Add(-a.size)", new: "a.left.since.Add(-a.size)",
		killer: killer{pkg: "growpool", test: "TestTriggerBoundsWhatIsLeftToTheCollector"},
	},
	{
		name: "growpool: a key keeps a buffer after StopHolding",
		file: "growpool/room.go", old: "if p.stopped.Load() {\n\t\treturn false", new: "if false {\n\t\treturn false",
		killer: killer{pkg: "growpool", test: "TestStopHoldingKeepsNothing"},
	},
	{
		name: "growpool: an admission does not wait for the cache",
		file: "growpool/policy.go", old: "\ty.cache.Wait()\n\tevicted", new: "\tevicted",
		killer: killer{pkg: "growpool", test: "TestTheNewerValueOfAKeyCounts"},
	},
	{
		name: "growpool: a larger buffer does not replace its key's in the cache",
		file: "growpool/policy.go", old: "\t\ty.cache.Del(id)\n\t}\n\tok", new: "\t\t_ = id\n\t}\n\tok",
		killer: killer{pkg: "growpool", test: "TestTheNewerValueOfAKeyCounts"},
	},
	{
		name: "growpool: a search stops where a key was removed",
		file: "growpool/table.go", old: "Store(&t.dug)", new: "Store(nil)",
		killer: killer{pkg: "growpool", test: "TestKeysWithOneHashDoNotMix"},
	},
	{
		name: "growpool: the cache knows keys by what finds them in the table",
		file: "growpool/table.go", old: "newEntry(key, t.id(key))", new: "newEntry(key, t.hash(key))",
		killer: killer{pkg: "growpool", test: "TestEntriesHaveTheirKeysNumber"},
	},
	{
		name: "growpool: the zero key is found in a grave",
		file: "growpool/table.go", old: "e.key == key && e != &t.dug", new: "e.key == key",
		killer: killer{pkg: "growpool", test: "TestTheZeroKeyIsNotFoundInGraves"},
	},
	{
		name: "growpool: a leased key is idle",
		file: "growpool/idle.go", old: "n != e.seen || e.turn.taken", new: "n != e.seen",
		killer: killer{pkg: "growpool", test: "TestIdleKeysLoseTheirBuffers"},
	},
	{
		name: "growpool: who needs room gets what Get has shown",
		file: "growpool/hold.go", old: "b.now() == lifeOf(kept, 1)", new: "b.idle()",
		killer: killer{pkg: "growpool", test: "TestNoRoomTakesWhatIsNotInUse"},
	},
	{
		name: "growpool: Close does not end a wait for memory",
		file: "growpool/pool.go", old: "\tp.end()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestCloseEndsAWaitForMemory"},
	},
	{
		name: "growpool: a closed pool is still asked for room",
		file: "growpool/pool.go", old: "\tdefer p.unshare()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestEndedPoolsAreNotAsked"},
	},
	{
		name: "growpool: memory that comes after Close is lost",
		file: "growpool/await.go", old: "\t\t_ = b.handle.Release() // Close has not seen it\n", new: "",
		killer: killer{pkg: "growpool", test: "TestMemoryThatComesAfterCloseGoesBack"},
	},
	{
		name: "growpool: a row can be appended into the next",
		file: "growpool/view.go", old: "[off : off+n : off+n]", new: "[off : off+n]",
		killer: killer{pkg: "growpool", test: "TestAtSetAndRowCountTheLastIndexFastest"},
	},
	{
		name: "growpool: a large index wraps around",
		file: "growpool/shape.go", old: "hi == 0 && row", new: "hi >= 0 && row",
		killer: killer{pkg: "growpool", test: "TestIndicesOutOfRangePanic"},
	},
	{
		name: "growpool: a shape's bytes overflow",
		file: "growpool/shape.go", old: "k < 1 || k > most", new: "k < 1",
		killer: killer{pkg: "growpool", test: "TestBadShapesAreRefusedBeforeAnythingHappens"},
	},
	{
		name: "growpool: a Block has elements for bytes",
		file: "growpool/view.go", old: "b.Len = v.n * int(unsafe.Sizeof(x))", new: "b.Len = v.n + 0*int(unsafe.Sizeof(x))",
		killer: killer{pkg: "growpool", test: "TestMemoryThatTheCPUDoesNotReach"},
	},
	{
		name: "growpool: a slice off the heap is not told to the slab.Pool",
		file: "slab/internal/handle/lent.go",
		old:  "| hidden)\n\ts.Escape()\n", new: "| hidden)\n",
		killer: killer{pkg: "growpool", test: "TestReplacedMemoryOffTheHeap"},
	},
	{
		name: "growpool: a Put of a lease's slice is taken",
		file: "growpool/view.go", old: "\tb.handle.Hide()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestPutRefusesWhatAKeyHas"},
	},
	{
		name: "growpool: a Put of a lease's Block is taken",
		file: "growpool/view.go", old: "\tv.of.handle.Hide()\n", new: "",
		killer: killer{pkg: "growpool", test: "TestPutRefusesWhatAKeyHas"},
	},
	{
		name: "growpool: alignment is judged by the element's size",
		file: "growpool/element.go", old: "uintptr(p) % e.align", new: "uintptr(p) % e.size",
		killer: killer{pkg: "growpool", test: "TestOtherElementTypesAndRanksOnOneKey"},
	},
	{
		name: "growpool: a buffer of just the size is not reused",
		file: "growpool/miss.go", old: "n <= b.size && b.hold()", new: "n < b.size && b.hold()",
		killer: killer{pkg: "growpool", test: "TestGetOfALeasedKeyFails"},
	},
	{
		name: "growpool: an entry is not looked at after its unlock",
		file: "growpool/entry.go", old: "if e.cur.Load() != nil || !e.mu.TryLock() {", new: "if true {",
		killer: killer{pkg: "growpool", test: "TestFailedMissIsUndoneInTheCache"},
	},
	{
		name: "growpool: the counts of keys that left are dropped",
		file: "growpool/entry.go", old: "\t\tp.remember(e.counts())\n", new: "",
		killer: killer{pkg: "growpool", test: "TestAWaitThatOutlivesItsKeyCounts"},
	},
}
