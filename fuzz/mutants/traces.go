package main

// Mutants of recordings: package trace, its planner, and slab/internal/record.
var ofTraces = []mutant{
	{
		name: "trace: a time above 63 bits wraps",
		file: "trace/format.go", old: "int64(min(ns, math.MaxInt64))", new: "int64(ns)",
		killer: killer{pkg: "trace", test: "TestTimeDoesNotWrap"},
	},
	{
		name: "trace: an allocation needs no size",
		file: "trace/format.go", old: "|| op.Kind != Free && op.Size == noSize", new: "",
		killer: killer{pkg: "trace", test: "TestReaderNamesFileLineAndFault"},
	},
	{
		name: "trace: a live id is allocated again",
		file: "trace/live.go", old: "if _, is := t.slots[id]; is {", new: "if false {",
		killer: killer{pkg: "trace", test: "TestReaderNamesFileLineAndFault"},
	},
	{
		name: "trace: a slot is used again while it is live",
		file: "trace/live.go", old: "slot, t.free = t.free[n-1], t.free[:n-1]", new: "slot, t.free = t.free[n-1], t.free[:n]",
		killer: killer{pkg: "trace", test: "TestEveryStrategyEndsEmpty"},
	},
	{
		name: "trace: a free's slot is not used again",
		file: "trace/live.go", old: "\tt.free = append(t.free, slot)\n", new: "",
		killer: killer{pkg: "trace", test: "TestHalves"},
	},
	{
		name: "trace: a freed id is not forgotten",
		file: "trace/live.go", old: "\tdelete(t.slots, id)\n", new: "",
		killer: killer{pkg: "trace", test: "TestAnIDMayBeUsedAgainOnceFree"},
	},
	{
		name: "trace: a free of another size",
		file: "trace/live.go", old: "given != size && given != noSize", new: "false",
		killer: killer{pkg: "trace", test: "TestReaderNamesFileLineAndFault"},
	},
	{
		name: "trace: live bytes overflow",
		file: "trace/builder.go", old: "int64(size) > math.MaxInt64-live", new: "size < 0",
		killer: killer{pkg: "trace", test: "TestSumsThatOverflowAreRefused"},
	},
	{
		name: "trace: the largest bytes of all keys overflow",
		file: "trace/builder.go", old: "int64(more) > math.MaxInt64-b.LargestBytes", new: "more < 0",
		killer: killer{pkg: "trace", test: "TestSumsThatOverflowAreRefused"},
	},
	{
		name: "trace: the peak is the last",
		file: "trace/builder.go", old: "max(b.PeakLiveBytes, b.LiveBytes)", new: "b.LiveBytes",
		killer: killer{pkg: "trace", test: "TestReplayCounts"},
	},
	{
		name: "trace: a size of 2 GiB is no large one",
		file: "trace/chunk.go", old: "uint64(size) >= inLarge", new: "uint64(size) > inLarge",
		killer: killer{pkg: "trace", test: "TestLargeSizesAreKept"},
	},
	{
		name: "trace: a wider column loses its rows",
		file: "trace/packed.go", old: "range old.rows", new: "range min(1, old.rows)",
		killer: killer{pkg: "trace", test: "TestPackedNumbers"},
	},
	{
		name: "trace: a distance of 256 has one byte",
		file: "trace/packed.go", old: "distance < 1<<8", new: "distance <= 1<<8",
		killer: killer{pkg: "trace", test: "TestPackedNumbers"},
	},
	{
		name: "trace: a column makes no room for its rows",
		file: "trace/packed.go", old: "width*max(room, old.rows+1)+8", new: "8",
		killer: killer{pkg: "trace", test: "TestPackedNumbersStayWhereTheyAre"},
	},
	{
		name: "trace: a cut last row is read",
		file: "trace/rows.go", old: "case err != nil:\n\t\ts.cut = err == io.EOF && len(line) > 0\n\t\treturn nil, err", new: "case err != nil && len(line) == 0:\n\t\treturn nil, err",
		killer: killer{pkg: "trace", test: "TestALastRowThatWasCutShortIsDropped"},
	},
	{
		name: "trace: a cut member is an error",
		file: "trace/rows.go", old: "\t\ts.torn = true\n\t\treturn nil, io.EOF\n", new: "\t\ts.torn = true\n\t\treturn nil, err\n",
		killer: killer{pkg: "trace", test: "TestACutMemberIsDropped"},
	},
	{
		name: "trace: the live are not in the second half",
		file: "trace/halves.go", old: "\t\t\tb.addLive(live)\n", new: "",
		killer: killer{pkg: "trace", test: "TestHalves"},
	},
	{
		name: "trace: what was freed is in the second half",
		file: "trace/halves.go", old: "\t\tlive[op.ID] = op\n", new: "\t\tif op.Kind == Alloc {\n\t\t\tlive[op.ID] = op\n\t\t}\n",
		killer: killer{pkg: "trace", test: "TestHalvesOfALongTrace"},
	},
	{
		name: "trace: a replay leaks what is live",
		file: "trace/run.go", old: "\tdefer r.releaseAll()\n", new: "",
		killer: killer{pkg: "trace", test: "TestReplayEndsAtTheFirstFailureAndReleasesAll"},
	},
	{
		name: "trace: a failed step counts as done",
		file: "trace/run.go", old: "\t\t\treturn i, err\n", new: "\t\t\treturn i + 1, err\n",
		killer: killer{pkg: "trace", test: "TestWatchKeepsTheNumberOfAFailure"},
	},
	{
		name: "trace: time without times stands still",
		file: "trace/run.go", old: "\t\tr.now += stepNS\n", new: "",
		killer: killer{pkg: "trace", test: "TestAReplayHasTheTimeOfTheRecording"},
	},
	{
		name: "trace: threads run on one processor",
		file: "trace/run.go", old: "\t\tr.on = on\n\t\tr.machine.RunOn(on)\n", new: "\t\tr.on = on\n",
		killer: killer{pkg: "trace", test: "TestThreadsRunOnProcessors"},
	},
	{
		name: "trace: progress is timed",
		file: "trace/run.go", old: "\tr.elapsed += time.Since(start)\n\n", new: "\tdefer func() { r.elapsed += time.Since(start) }()\n\n",
		killer: killer{pkg: "trace", test: "TestTheTimeOfProgressIsNotCounted"},
	},
	{
		name: "trace: a part that is cut loses its times",
		file: "trace/watch.go", old: "head.times, tail.times = c.times.cut(n)", new: "head.times, tail.times = c.times, c.times",
		killer: killer{pkg: "trace", test: "TestWatchLooksWhereItWantsTo"},
	},
	{
		name: "trace: a Writer keeps the last part",
		file: "trace/writer.go", old: "\t\tw.closed = true\n\t\tw.flushLocked()\n", new: "\t\tw.closed = true\n",
		killer: killer{pkg: "trace", test: "TestWriterReportsTheFirstError"},
	},
	{
		name: "trace: a Writer drops the rows before one that it refuses",
		file: "trace/writer.go", old: "\tif err != nil {\n\t\tw.flushLocked()\n", new: "\tif err != nil {\n",
		killer: killer{pkg: "trace", test: "TestWriterKeepsRowsBeforeAWrongOne"},
	},
	{
		name: "trace: a part waits for no clock",
		file: "trace/writer.go", old: "\t\tw.timer.Reset(tracefile.Every)\n", new: "\t\t_ = tracefile.Every\n",
		killer: killer{pkg: "trace", test: "TestWriterWritesInParts"},
	},
	{
		name: "trace: a part is written twice",
		file: "trace/writer.go", old: "\tw.buf = w.buf[:0]\n", new: "",
		killer: killer{pkg: "trace", test: "TestWriterWritesInParts"},
	},
	{
		name: "trace: a Writer forgets its first error",
		file: "trace/writer.go", old: "w.err = cmp.Or(w.err, w.out.Close())", new: "w.err = cmp.Or(w.out.Close(), nil)",
		killer: killer{pkg: "trace", test: "TestWriterReportsTheFirstError"},
	},
	{
		name: "trace: a key with a quote is written as it is",
		file: "trace/writer.go", old: `,\"\r\n"`, new: `,\r\n"`,
		killer: killer{pkg: "trace", test: "TestWriterWritesKeyedTraces"},
	},
	{
		name: "trace: a part is no member of its own",
		file: "internal/tracefile/tracefile.go", old: "\tif err := errors.Join(err, w.zip.Close()); err != nil {", new: "\tif err := errors.Join(err, w.zip.Flush()); err != nil {",
		killer: killer{pkg: "trace", test: "TestWriterWritesInParts"},
	},
	{
		name: "trace: a pointer of another device is freed",
		file: "trace/import_blocks.go", old: "at := address{e.Space, pointer}", new: "at := address{0, pointer}",
		killer: killer{pkg: "trace", test: "TestImport"},
	},
	{
		name: "trace: a pointer allocated twice is not freed before",
		file: "trace/import_blocks.go", old: "\t\tops = b.free(e, e.Pointer)\n", new: "\t\t_ = e\n",
		killer: killer{pkg: "trace", test: "TestImportReportsWhatIsOdd"},
	},
	{
		name: "trace: a realloc leaves the old block live",
		file: "trace/import_blocks.go", old: "\tdelete(b.live, address{e.Space, e.Old})\n", new: "",
		killer: killer{pkg: "trace", test: "TestImportedGrows"},
	},
	{
		name: "planner: blocks that touch in time overlap",
		file: "trace/planner/blocks.go", old: "b.start < c.end && c.start < b.end", new: "b.start <= c.end && c.start <= b.end",
		equivalent: "a block begins with an allocation and ends with a free, and an event is one of both: no block ends where another begins",
	},
	{
		name: "planner: a block is aligned down",
		file: "trace/planner/blocks.go", old: "(int64(op.Size) + r.align - 1) &^ (r.align - 1)", new: "int64(op.Size) &^ (r.align - 1)",
		killer: killer{pkg: "trace/planner", test: "TestStepsHaveTheirOwnHints"},
	},
	{
		name: "record: a part is longer than a kill may lose",
		file: "slab/internal/record/parts.go", old: "tracefile.PartBytes/2 - maxRow", new: "tracefile.PartBytes / 2",
		killer: killer{pkg: "slab/internal/record", test: "TestAKillLosesAtMost64KiB"},
	},
	{
		name: "planner: a block goes into a gap half its size",
		file: "trace/planner/place.go", old: "room >= b.size &&", new: "room > b.size/2 &&",
		killer: killer{pkg: "trace/planner", test: "TestPlansAreValid"}, fast: true,
	},
	{
		name: "planner: the last block looked at hides a larger one",
		file: "trace/planner/place.go", old: "top = max(top, c.end)", new: "top = c.end",
		killer: killer{pkg: "trace/planner", test: "TestPlansAreValid"},
	},
	{
		name: "planner: the tree misses the last placed",
		file: "trace/planner/overlap.go", old: "n > 0 && o.ends[n] < end", new: "n > 1 && o.ends[n] < end",
		killer: killer{pkg: "trace/planner", test: "TestOverlapFindsWhatOverlaps"},
	},
	{
		name: "planner: a block without a place is above one with",
		file: "trace/planner/search.go", old: "b.size <= most", new: "b.size < most",
		killer: killer{pkg: "trace/planner", test: "TestTheSmallestBlocksAreLeftOut"},
	},
	{
		name: "planner: the ceiling is passed",
		file: "trace/planner/search.go", old: "(s.Ceiling == 0 || height <= s.Ceiling)", new: "true",
		killer: killer{pkg: "trace/planner", test: "TestTheSmallestBlocksAreLeftOut"},
	},
	{
		name: "planner: a worse plan is kept",
		file: "trace/planner/search.go", old: "\t\treturn height <= s.height\n", new: "\t\treturn true\n",
		killer: killer{pkg: "trace/planner", test: "TestPlansAreValid"},
	},
}
