package main

// Mutants of bodies, and of reads that wait before they take memory.
var ofBodies = []mutant{
	{
		name: "body: the first Close gives the memory back",
		file: "iobuf/shared.go",
		old:  "if m.users.Add(-1) == 0 {", new: "if m.users.Add(-1) >= 0 {",
		killer: killer{pkg: "iobuf", test: "TestBodyAnother"},
	},
	{
		name: "body: a Read does not keep the memory",
		file: "iobuf/body.go",
		old:  "\tdefer m.leave()\n\tfrom, to := b.claim(len(p))\n", new: "\tm.leave()\n\tfrom, to := b.claim(len(p))\n",
		killer: killer{pkg: "iobuf", test: "TestBodyCloseBesideRead", race: true},
	},
	{
		name: "body: a WriteTo does not keep the memory",
		file: "iobuf/bodywrite.go",
		old:  "\tdefer m.leave()\n", new: "\tm.leave()\n",
		killer: killer{pkg: "iobuf", test: "TestBodyCloseBesideWriteTo"},
	},
	{
		name: "body: each Close counts",
		file: "iobuf/body.go",
		old:  "!b.closed.Swap(true)", new: "!b.closed.Swap(false)",
		killer: killer{pkg: "iobuf", test: "TestBodyAnother"},
	},
	{
		name: "body: a Read after Close reads what others keep",
		file: "iobuf/body.go",
		old:  "\tif b.closed.Load() {\n\t\tb.memory.leave()\n", new: "\tif false {\n\t\tb.memory.leave()\n",
		killer: killer{pkg: "iobuf", test: "TestBodyAfterClose"},
	},
	{
		name: "body: memory that has gone back has another reader",
		file: "iobuf/shared.go",
		old:  "if n == 0 {", new: "if n < 0 {",
		killer: killer{pkg: "iobuf", test: "TestBodyAnother"},
	},
	{
		name: "body: what a Writer did not take is lost",
		file: "iobuf/bodywrite.go",
		old:  "b.at.Add(n - int64(to-from))", new: "_, _ = from, to",
		killer: killer{pkg: "iobuf", test: "TestBodyWriteToThatFails"},
	},
	{
		name: "body: a released handle shows its next owner",
		file: "iobuf/shared.go",
		old:  "m.append(segment{block: block}, block.Len())", new: "m.append(segment{block, block.Bytes()}, block.Len())",
		killer: killer{pkg: "iobuf", test: "TestBodyWhoseHandleWasReleased"},
	},
	{
		name: "body: what the Buffer had read is sent",
		file: "iobuf/body.go",
		old:  "m.add(s.block, s.data[at:])", new: "m.add(s.block, s.data)",
		killer: killer{pkg: "iobuf", test: "TestBodyAsAReader"},
	},
	{
		name: "body: an empty segment stays",
		file: "iobuf/body.go",
		old:  "_ = last.block.Release() // nothing", new: "_ = last // nothing",
		killer: killer{pkg: "iobuf", test: "TestBodyTakesNothing"},
	},
	{
		name: "body: a request gets the caller's reader",
		file: "iobuf/httpbody/httpbody.go",
		old:  "= body, b.Another,", new: "= b, b.Another,",
		killer: killer{pkg: "iobuf/httpbody", test: "TestRedirect|TestSet"},
	},
	{
		name: "ready: memory is taken before bytes are there",
		file: "iobuf/ready_unix.go",
		old:  "if !isReadable(int(fd)) {", new: "if false {",
		killer: killer{pkg: "iobuf", test: "TestReadReadyHoldsNothing"},
	},
	{
		name: "ready: it waits before it asks",
		file: "iobuf/ready_unix.go",
		old:  "if !isReadable(int(fd)) {", new: "if !isReadable(int(fd)) || fd > 0 {",
		killer: killer{pkg: "iobuf", test: "TestReadReady"},
	},
	{
		name: "ready: a false alarm keeps memory",
		file: "iobuf/ready_unix.go",
		old:  "\t_ = h.Release()\n\tif err == unix.EAGAIN {", new: "\tif err == unix.EAGAIN {",
		killer: killer{pkg: "iobuf", test: "TestReadReadyAfterAFalseAlarm"},
	},
	{
		name: "ready: an empty datagram is the end",
		file: "iobuf/ready_unix.go",
		old:  "case n == 0 && isStream(fd):", new: "case n == 0:",
		killer: killer{pkg: "iobuf", test: "TestReadReadyOfDatagrams"},
	},
	{
		name: "ready: the end of a context leaves its deadline",
		file: "iobuf/wake.go",
		old:  "\t_ = w.deadline.SetReadDeadline(time.Time{})\n", new: "",
		killer: killer{pkg: "iobuf", test: "TestReadReadyIsWoken|TestReadReadyOfAContextThatEnds"},
	},
	{
		name: "ready: the end of a context loses bytes",
		file: "iobuf/ready.go",
		old:  "if w.end() && err != nil {", new: "if w.end() {",
		killer: killer{pkg: "iobuf", test: "TestReadReadyOfAContextThatEndsAsBytesCome"},
	},
	{
		name: "ready: each read sets deadlines",
		file: "iobuf/wake.go",
		old:  "if w.stop == nil || w.stop() {", new: "if w.stop == nil || w.stop() && false {",
		killer: killer{pkg: "iobuf", test: "TestReadReadyLeavesTheDeadline"},
	},
	{
		name: "ready: without room for all a piece is lost",
		file: "iobuf/readpiece.go",
		old:  "if n <= pieceBytes || err != nil {", new: "if err != nil {\n\t\treturn none, err\n\t}\n\tif n <= pieceBytes {",
		killer: killer{pkg: "iobuf", test: "TestReadReadyWithoutRoom"},
	},
	{
		name: "ready: buffers that cannot be cut without memory are taken",
		file: "iobuf/ready.go",
		old:  "uint64(n) > math.MaxUint32 {", new: "uint64(n) > math.MaxInt64 {",
		killer: killer{pkg: "iobuf", test: "TestReadReadyRefuses"},
	},
}
