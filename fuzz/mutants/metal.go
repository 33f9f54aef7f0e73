package main

// metalTest is a test of package metal, on the double.
func metalTest(test string) killer { return killer{pkg: "device/metal", test: test} }

// Mutants of package metal, and of what unified does on shared memory.
var ofMetal = []mutant{
	{
		name: "metal: work that failed keeps those waiting that wait for it",
		file: "device/metal/batch.go", old: "\t\t\ts.hw.tell(s.event, selSetSignaled, uintptr(b.number))\n", new: "",
		killer: metalTest("TestLateFailure"),
	},
	{
		name: "metal: a look at an event looks at no stream that it waits for",
		file: "device/metal/batch.go", old: "\t\te.stream.reap() // if it", new: "\t\t_ = e // if it",
		killer: metalTest("TestLateFailure"),
	},
	{
		name: "metal: a stream does not take over the failure that it has waited for",
		file: "device/metal/batch.go", old: "\t\ts.fail(b.number, e.stream.failure(e.number))\n", new: "\t\t_ = e\n",
		killer: metalTest("TestLateFailure"),
	},
	{
		name: "metal: an event before a failure has failed, too",
		file: "device/metal/batch.go", old: "s.err != nil && s.failed <= number", new: "s.err != nil",
		killer: metalTest("TestLateFailure"),
	},
	{
		name: "metal: more command buffers are under way than Metal takes",
		file: "device/metal/batch.go", old: "mostPending = 48", new: "mostPending = 480",
		killer: metalTest("TestManyBatches"),
	},
	{
		name: "metal: a text is read without a pool",
		file: "device/metal/hardware.go", old: "a.pooled(func() { h.Info.Device = a.text(a.ask(gpu, selName)) })", new: "h.Info.Device = a.text(a.ask(gpu, selName))",
		killer: metalTest("TestKindsOfMemory"), fast: true,
	},
	{
		name: "metal: the default GPU is listed twice",
		file: "device/metal/hardware.go", old: "a.tell(gpu, selRegistryID) != a.tell(id(first), selRegistryID)", new: "gpu != 0",
		killer: metalTest("TestDevicesDescribes"),
	},
	{
		name: "metal: a loss is forgotten",
		file: "device/metal/hardware.go", old: "\t\th.lost.CompareAndSwap(nil, e)\n", new: "\t\t_ = e\n",
		killer: metalTest("TestLostDevice"),
	},
	{
		name: "metal: metal:0 is shared where the GPU has memory of its own",
		file: "device/metal/kind.go", old: `name == "" && h.Unified`, new: `name == ""`,
		killer: metalTest("TestKindsOfMemory"),
	},
	{
		name: "metal: the GPU gets lengths that are no words",
		file: "device/metal/place.go", old: "(p.off|n)%word == 0", new: "p.off%word == 0",
		killer: metalTest("TestOddBytesWaitTheirTurn"),
	},
	{
		name: "metal: the GPU gets copies that overlap",
		file: "device/metal/copy.go", old: " && !overlaps", new: " && (overlaps || true)",
		killer: metalTest("TestConformance"),
	},
	{
		name: "metal: pieces of a copy begin at the wrong end",
		file: "device/metal/stage.go", old: "if t.to.off > t.from.off {", new: "if t.to.off < t.from.off {",
		killer: metalTest("TestConformance"),
	},
	{
		name: "metal: a word that is written in part is not read first",
		file: "device/metal/stage.go", old: "if hi-lo > len(m) {", new: "if hi-lo > len(m)+2*word {",
		killer: metalTest("TestOddBytesWaitTheirTurn"),
	},
	{
		name: "metal: odd bytes are copied before their turn",
		file: "device/metal/stream_work.go", old: "\t\tif err := s.drain(); err != nil {\n", new: "\t\tif err := error(nil); err != nil {\n",
		killer: metalTest("TestOddBytesWaitTheirTurn"),
	},
	{
		name: "metal: odd bytes are filled before their turn",
		file: "device/metal/stream_work.go", old: "\tif err := s.drain(); err != nil {\n\t\treturn err\n\t}\n\tif p.host", new: "\tif p.host",
		killer: metalTest("TestOddBytesWaitTheirTurn"),
	},
	{
		name: "metal: a wait is encoded while an encoder is open",
		file: "device/metal/event.go", old: "\t\ts.closeEncoder(b)\n", new: "",
		killer: metalTest("TestWaitAmongWork"),
	},
	{
		name: "metal: work of others on the queue is not waited for",
		file: "device/metal/stream.go", old: "\ts.lent = true\n", new: "",
		killer: metalTest("TestRecordOfNothingNew"),
	},
	{
		name: "metal: memory that was registered and forgotten is collected",
		file: "device/metal/register.go", old: "\tregistered.Store(r, nil)\n", new: "",
		killer: metalTest("TestForgottenRegistrationStays"),
	},
	{
		name: "metal: nobody keeps in mind what a batch uses",
		file: "device/metal/batch.go", old: "\ts.notes(b, n, on)\n", new: "",
		killer: metalTest("TestCheckReportsWorkUnderWay"),
	},
	{
		name: "metal: what a stream waits for is not done before it",
		file: "device/metal/underway.go", old: "return e.stream.follows(w, e.number)", new: "return false",
		killer: metalTest("TestUnderWay"),
	},
	{
		name: "metal: a part of a block can be freed",
		file: "device/metal/buffer.go", old: "b.Len != r.asked", new: "b.Len > r.asked",
		killer: metalTest("TestConformance"),
	},
	{
		name: "unified: the CPU does not wait for the GPU that uses the same bytes",
		file: "unified/uses.go", old: "\td = a.place(d)\n", new: "",
		killer: metalTest("TestSharedSidesWaitForEachOther"),
	},
	{
		name: "unified: memory of a slice in use is another buffer's",
		file: "unified/store.go", old: "\t\ta.sides[onDevice].watch.Stop()\n", new: "\t\t_ = a\n",
		killer: killer{pkg: "unified", test: "TestForgottenSharedBuffers"},
	},
	{
		name: "unified: a copy is made within shared memory",
		file: "unified/array.go", old: "case x.do == pull && a.mem.shared:", new: "case x.do == pull && a.mem.shared && x.lo > 0:",
		killer: killer{pkg: "unified", test: "TestEveryCellOnSharedMemory"},
	},
}
