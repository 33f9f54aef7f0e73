package main

// Mutants of blocks that wait for streams, and of calls that wait for memory.
var ofQueues = []mutant{
	{
		name: "streams: a Release before the work is done is not reported",
		file: "slab/underway.go", old: "b.Len > 0 && d.UnderWay", new: "b.Len < 0 && d.UnderWay",
		killer: killer{pkg: "slab", test: "TestCheckReportsWorkUnderWay"},
	},
	{
		name: "streams: what a named stream waits for counts as forgotten",
		file: "device/sim/work.go", old: "return w.end > named &&", new: "return true &&",
		killer: killer{pkg: "slab", test: "TestCheckReportsWorkUnderWay"},
	},
	{
		name: "waiters: who leaves wakes nobody",
		file: "slab/internal/budget/queue.go",
		old:  "if led {", new: "if led && false {",
		killer: killer{pkg: "slab/internal/budget", test: "TestOnlyTheOneThatLeadsIsWoken"},
	},
	{
		name: "waiters: an older waiter queues behind younger ones",
		file: "slab/internal/budget/queue.go",
		old:  "at.since.After(w.since)", new: "false && at.since.After(w.since)",
		killer: killer{pkg: "slab/internal/budget", test: "TestLedFor"}, fast: true,
	},
	{
		name: "waiters: one that gave up wakes as if it led",
		file: "slab/internal/budget/queue.go",
		old:  "if led {", new: "if led || true {",
		killer: killer{pkg: "slab/internal/budget", test: "TestAWaiterThatGivesUpWakesNobody"},
	},
	{
		name: "waiters: a token is taken for each wake",
		file: "slab/internal/budget/queue.go",
		old:  "make(chan struct{}, 1)", new: "make(chan struct{})",
		killer: killer{pkg: "slab/internal/budget", test: "TestAWaiterThatGivesUpWakesNobody"},
	},
	{
		name: "waiters: WakeAll wakes only the first",
		file: "slab/internal/budget/queue.go",
		old:  "\t\tw.wake()\n\t}\n}", new: "\t\tw.wake()\n\t\tbreak\n\t}\n}",
		killer: killer{pkg: "slab/internal/budget", test: "TestAWaiterThatGivesUpWakesNobody"},
	},
	{
		name: "pending: a stream that cannot record is not waited for",
		file: "slab/internal/pending/block.go",
		old:  "\t\t\t_ = stream.Sync()\n", new: "",
		killer: killer{pkg: "slab/internal/pending", test: "TestAStreamThatCannotRecordIsWaitedFor"},
	},
	{
		name: "pending: Sync waits for the first stream only",
		file: "slab/internal/pending/block.go",
		old:  "_ = u.event.Sync()", new: "_ = u.event.Sync()\n\t\tbreak",
		killer: killer{pkg: "slab/internal/pending", test: "TestWaitOnOthers"},
	},
	{
		name: "pending: a stream waits for its own work alone",
		file: "slab/internal/pending/block.go",
		old:  "if u.stream == s {", new: "if u.stream != s {",
		killer: killer{pkg: "slab/internal/pending", test: "TestWaitOnOthers"}, fast: true,
	},
	{
		name: "pending: an escaped block is handed out",
		file: "slab/internal/pending/block.go",
		old:  "return !b.Escaped && ", new: "return ",
		killer: killer{pkg: "slab/internal/pending", test: "TestAnEscapedBlockIsNotHandedOut"},
	},
	{
		name: "pending: a block of any length serves",
		file: "slab/internal/pending/block.go",
		old:  " && n-size <= spare", new: "",
		killer: killer{pkg: "slab/internal/pending", test: "TestTakeForIsAtMostTwiceAsLarge"},
	},
	{
		name: "pending: more bytes are spare than a slot can count",
		file: "slab/internal/pending/block.go",
		old:  "<= math.MaxUint32", new: "<= math.MaxInt64",
		killer: killer{pkg: "slab/internal/pending", test: "TestSpareBytesCanBeCounted"},
	},
	{
		name: "pending: a block that others use is taken for a stream",
		file: "slab/internal/pending/queue.go",
		old:  "len(b.uses) > 1 || ", new: "",
		killer: killer{pkg: "slab/internal/pending", test: "TestTakeForWantsBlocksOfOneStream"},
	},
	{
		name: "pending: Add lets blocks wait after Stop",
		file: "slab/internal/pending/queue.go",
		old:  "b.done() || q.stopped", new: "b.done()",
		killer: killer{pkg: "slab/internal/pending", test: "TestStopMakesAddRefuse"},
	},
	{
		name: "pending: what leaves the queue still waits in Stats",
		file: "slab/internal/pending/queue.go",
		old:  "\t\tq.waiting.Sub(b.Slot.Len())\n", new: "",
		killer: killer{pkg: "slab/internal/pending", test: "TestAnEscapedBlockIsNotHandedOut"},
	},
	{
		name: "pending: streams of the last owner stay",
		file: "slab/internal/pending/uses.go",
		old:  "\tdelete(q.streams, s.ID())\n", new: "",
		killer: killer{pkg: "slab/internal/pending", test: "TestUsesAreOfOneOwner"},
	},
	{
		name: "pending: the slot stays streamed",
		file: "slab/internal/pending/uses.go",
		old:  "\ts.ClearStreamed()\n", new: "",
		killer: killer{pkg: "slab/internal/pending", test: "TestUsesAreOfOneOwner"},
	},
	{
		name: "pending: a stream that uses a block twice is noted once",
		file: "slab/internal/pending/uses.go",
		old:  "!slices.Contains(at, on)", new: "len(at) == 0",
		killer: killer{pkg: "slab/internal/pending", test: "TestUsesAreOfOneOwner"},
	},
	{
		name: "pending: the youngest block is taken for the oldest",
		file: "slab/internal/pending/queue.go",
		old:  "l.blocks[i].number < in.blocks[at].number", new: "l.blocks[i].number > in.blocks[at].number",
		killer: killer{pkg: "slab/internal/pending", test: "TestTakeOldestHasWaitedLongest"},
	},
}
