package main

// Mutants of grows, processors and promises in recordings, and of what a process is held against.
var ofPromises = []mutant{
	{
		name: "grow: a row with an id is a request",
		file: "trace/format.go", old: "\t\t\top.Kind = Grow\n", new: "",
		killer: killer{pkg: "trace", test: "TestGrowOrGet"}, fast: true,
	},
	{
		name: "grow: an older request with an id is a grow",
		file: "trace/reader.go", old: "op.Kind == Grow && op.Key != \"\" &&", new: "false &&",
		killer: killer{pkg: "trace", test: "TestGrowOrGet"},
	},
	{
		name: "grow: the size of before stays live",
		file: "trace/builder.go", old: "live := b.LiveBytes - int64(before)", new: "live := b.LiveBytes",
		killer: killer{pkg: "trace", test: "TestGrowsAreCounted"},
	},
	{
		name: "grow: a free wants the size of before",
		file: "trace/live.go", old: "\tt.sizes[slot] = size\n\treturn slot, nil", new: "\treturn slot, nil",
		killer: killer{pkg: "trace", test: "TestGrowsAreCounted"},
	},
	{
		name: "grow: it is replayed as a Get",
		file: "trace/run.go", old: "r.handles[slot].Grow(size)", new: "r.pool.Get(size)",
		killer: killer{pkg: "trace", test: "TestGrowsRepeat"},
	},
	{
		name: "grow: the second half begins with the size of before",
		file: "trace/halves.go", old: "live[op.ID].Size = op.Size", new: "",
		killer: killer{pkg: "trace", test: "TestHalvesOfGrows"},
	},
	{
		name: "grow: a grow of what is not live",
		file: "trace/live.go", old: "\tif !is {\n\t\treturn 0, fmt.Errorf(\"id %d grown", new: "\tif !is && id > 1<<60 {\n\t\treturn 0, fmt.Errorf(\"id %d grown",
		killer: killer{pkg: "trace", test: "TestReaderNamesFileLineAndFault"},
	},
	{
		name: "grow: a copy is a free and an allocation",
		file: "slab/internal/watch/log.go", old: "case stays:", new: "case true:",
		killer: killer{pkg: "slab", test: "TestGrowIsARow"},
	},
	{
		name: "grow: the memory of parts is freed with a Grow",
		file: "slab/grow.go", old: "b.slot.IsPart() || b.slot.IsShared()", new: "false",
		killer: killer{pkg: "slab", test: "TestGrowBesidePartsIsAnAllocation"},
	},
	{
		name: "grow: one that fails is a row",
		file: "slab/get.go", old: "if how == growing {", new: "if false {",
		killer: killer{pkg: "slab", test: "TestGrowIsARow"},
	},
	{
		name: "grow: what has left a ring has the size of before",
		file: "slab/internal/record/ring.go", old: "was.size = was.size&^(1<<sizeBits-1) | e.bytes()", new: "",
		killer: killer{pkg: "slab/internal/record", test: "TestRingOfGrows"},
	},
	{
		name: "procs: a recording has one processor",
		file: "slab/internal/record/recorder.go", old: "e.what |= processor() << opBits", new: "_ = processor",
		killer: killer{pkg: "slab", test: "TestRecordedProcessors"},
	},
	{
		name: "procs: a replay has one, whatever was recorded",
		file: "trace/replay.go", old: "min(t.Threads(), mostProcessors)", new: "1",
		killer: killer{pkg: "trace", test: "TestThreadsRunOnProcessors"},
	},
	{
		name: "procs: a replay stays on the first",
		file: "trace/run.go", old: "\t\tr.machine.RunOn(on)\n", new: "",
		killer: killer{pkg: "trace", test: "TestThreadsRunOnProcessors"},
	},
	{
		name: "promise: the last row counts",
		file: "trace/promise.go", old: "max(p.Align, q.Align), p.Zeroed || q.Zeroed", new: "q.Align, q.Zeroed",
		killer: killer{pkg: "trace", test: "TestPromises"},
	},
	{
		name: "promise: a line has less alignment",
		file: "cmd/bufslab/promises.go", old: "p.Align > defaultAlign && c.Align == 0", new: "false",
		killer: killer{pkg: "cmd/bufslab", test: "TestLinesKeepWhatTheRecordedPoolPromised"},
	},
	{
		name: "tune: a line that fails on the other half is chosen",
		file: "cmd/bufslab/tune_score.go", old: "!t.exceeds && s.Cost > t.Cost", new: "false",
		killer: killer{pkg: "cmd/bufslab", test: "TestHolds"},
	},
	{
		name: "verify: whatever a process takes is promised",
		file: "cmd/bufslab/verify.go", old: "v.Holds = v.Ratio <= most", new: "v.Holds = true",
		killer: killer{pkg: "cmd/bufslab", test: "TestVerify"}, fast: true,
	},
	{
		name: "peak: what was forgotten is out",
		file: "slab/peak.go", old: "p.cache.OutBytes() - p.leaks.ForgottenBytes()", new: "p.cache.OutBytes()",
		killer: killer{pkg: "slab", test: "TestPeakActiveKnowsTheForgotten"},
	},
	{
		name:   "peak: Releases are added up first",
		file:   "slab/internal/percpu/usage.go",
		old:    "return got - c.sum(func(n *counters) int64 { return n.released }, func(k *ClassCache) *int64 { return &k.released })",
		new:    "released := c.sum(func(n *counters) int64 { return n.released }, func(k *ClassCache) *int64 { return &k.released })\n\treturn got - got + c.sum(func(n *counters) int64 { return n.got }, func(k *ClassCache) *int64 { return &k.got }) - released",
		killer: killer{pkg: "slab/internal/percpu", test: "TestOutBytesIsNeverTooLarge"},
	},
	{
		name: "peak: a Grow is not seen",
		file: "slab/grow.go", old: "\tp.peak.note(p, g.to)\n", new: "",
		killer: killer{pkg: "slab", test: "TestPeakActiveWithoutCaches"},
	},
	{
		name: "peak: Gets of few large buffers do not look",
		file: "slab/peak.go", old: "min(skips*int64(size), a.enough)", new: "skips*int64(size)",
		killer: killer{pkg: "slab", test: "TestPeakActiveSeesAMoment"},
	},
	{
		name: "peak: Gets look however far it is",
		file: "slab/peak.go", old: "most-n, ", new: "",
		killer: killer{pkg: "slab", test: "TestPeakActiveLooksWhenItMayRise"},
	},
	{
		name: "peak: classes that are used later are not added up",
		file: "slab/internal/percpu/sample.go", old: "p.known.Add(1)", new: "p.known.Store(1)",
		killer: killer{pkg: "slab", test: "TestPeakActive"},
	},
	{
		name: "peak: what is being made is not out",
		file: "slab/get.go", old: "\tp.peak.raise(min(out, p.accounting.Peak()))\n", new: "\t_ = out\n",
		killer: killer{pkg: "slab", test: "TestPeakActiveWhileMemoryIsMade"},
	},
	{
		name: "peak: what made room is out, too",
		file: "slab/get.go", old: "min(out, p.accounting.Peak())", new: "out",
		killer: killer{pkg: "slab", test: "TestPeakActiveWhileMemoryIsMade"},
	},
	{
		name: "files: two pools write one",
		file: "slab/internal/claim/claim.go", old: "claims.owners[key] = owner", new: "",
		killer: killer{pkg: "slab", test: "TestOneFileAPool"},
	},
	{
		name: "record: a free is a row before the memory is back",
		file: "slab/release.go",
		old:  "defer p.leaks.Freed(p.leaks.Released(e.Slot))", new: "p.leaks.Freed(p.leaks.Released(e.Slot))",
		killer: killer{pkg: "slab", test: "TestAFreeIsRecordedWhenTheMemoryIsBack"},
	},
	{
		name: "growpool: a hit is no request",
		file: "growpool/pool.go",
		old:  "p.seen = p.policy != nil || c.Requested != nil", new: "p.seen = p.policy != nil",
		killer: killer{pkg: "growpool", test: "TestRequested"},
	},
}
