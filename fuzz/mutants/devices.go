package main

// Mutants of package device, of its simulation, and of what devices have in common.
var ofDevices = []mutant{
	{
		name: "device: the heap aligns 4096 at most by 64",
		file: "device/heap.go", old: "min(max(size&-size, least), 4096)", new: "min(max(size&-size, least), 64)",
		killer: killer{pkg: "device", test: "TestHeapAlignment"}, fast: true,
	},
	{
		name: "device: the heap tries what make would die of",
		file: "device/heap.go", old: "if size > heapLimit() {", new: "if size < 0 {",
		killer: killer{pkg: "device", test: "TestHeapRefusesWhatMakeWouldDieOf"},
	},
	{
		name: "device: EINVAL is not out of memory",
		file: "device/mmap_unix.go", old: " || errors.Is(err, unix.EINVAL) {\n\t\treturn", new: " {\n\t\treturn",
		killer: killer{pkg: "device", test: "TestSentinel"},
	},
	{
		name: "device: locked pages are not given back",
		file: "device/mmap_unix.go", old: "\t\terr = dropLocked(m[lo:hi])\n", new: "\t\t_ = 0\n",
		killer: killer{pkg: "device", test: "TestMmapGivesLockedPagesBack"},
	},
	{
		name: "device: a large Commit finds memory, too",
		file: "device/mmap_range.go", old: "hi-lo <= populated", new: "hi-lo > 0",
		killer: killer{pkg: "device", test: "TestSmallCommitsFindMemory"},
	},
	{
		name: "device: no Commit finds memory",
		file: "device/mmap_range.go", old: "hi-lo <= populated", new: "hi-lo < 0",
		killer: killer{pkg: "device", test: "TestSmallCommitsFindMemory"},
	},
	{
		name: "device: memory ahead does not end where addresses were given up",
		file: "device/mmap_range.go", old: "hi < lo || g.r.gone.Overlap(lo, hi) > 0", new: "hi < lo",
		killer: killer{pkg: "device", test: "TestNothingIsFoundWhereAddressesWereGivenUp"},
	},
	{
		name: "device: what was found ahead stays when the top goes back",
		file: "device/mmap_range.go", old: "g.unlessGone(g.top, min(g.found, len(m)))", new: "off+n",
		killer: killer{pkg: "device", test: "TestCommitsAtTheTopFindMemoryAhead"},
	},
	{
		name: "device: more goes back than the range has addresses",
		file: "device/mmap_range.go", old: "min(g.found, len(m))", new: "g.found",
		killer: killer{pkg: "device", test: "TestCommitsAtTheTopFindMemoryAhead"},
	},
	{
		name: "device: the runs of an unmapped region stay counted",
		file: "device/mmap_unix.go", old: "\tr.lost.unmapped()\n", new: "",
		killer: killer{pkg: "device", test: "TestQuarantineKeepsMappings"},
	},
	{
		name: "device: addresses given up are unmapped again",
		file: "device/mmap_unix.go", old: "\t\ts.Remove(x.Lo, x.Hi)\n", new: "\t\t_ = x\n",
		killer: killer{pkg: "device", test: "TestAddressesGivenUpAreAnothers"},
	},
	{
		name: "device: a range that is refused keeps its addresses",
		file: "device/mmap_range.go", old: "\t\tgiveAddresses(size)\n\t\treturn nil, err\n", new: "\t\treturn nil, err\n",
		killer: killer{pkg: "device", test: "TestRefusedRangesDoNotCount"},
	},
	{
		name: "device: a closed range keeps its addresses",
		file: "device/mmap_range.go", old: "\tgiveAddresses(size)\n\treturn nil\n", new: "\t_ = size\n\treturn nil\n",
		killer: killer{pkg: "device", test: "TestClosedRangesDoNotCount"},
	},
	{
		name: "device: addresses given up count twice",
		file: "device/mmap_range.go", old: "size := g.r.Size() - g.r.gone.Overlap(0, g.r.Size())", new: "size := g.r.Size()",
		killer: killer{pkg: "device", test: "TestClosedRangesDoNotCount"},
	},
	{
		name: "device: addresses given up stay counted",
		file: "device/mmap_range.go", old: "\tgiveAddresses(n)\n\treturn nil\n", new: "\treturn nil\n",
		killer: killer{pkg: "device", test: "TestMmapRangesHaveAShareOfTheAddresses"},
	},
	{
		name: "device: addresses can be given up twice",
		file: "device/mmap_range.go", old: "n == len(m) || r.gone.Overlap(off, off+n) > 0", new: "n == len(m)",
		killer: killer{pkg: "device", test: "TestConformance"},
	},
	{
		name: "device: quarantine takes a page that is used in part",
		file: "device/mmap_quarantine.go", old: "lo, hi := roundUp(off, r.dev.page), (off+n)&^(r.dev.page-1)", new: "lo, hi := off&^(r.dev.page-1), (off+n)&^(r.dev.page-1)",
		killer: killer{pkg: "device", test: "TestQuarantineFaults"},
	},
	{
		name: "device: a page in quarantine can be read",
		file: "device/mmap_quarantine.go", old: "\t\t_ = unix.Mprotect(m[lo:hi], unix.PROT_NONE) // else a late reader finds zeros\n", new: "\t\t_ = unix.PROT_NONE\n",
		killer: killer{pkg: "device", test: "TestQuarantineFaults"},
	},
	{
		name: "device: quarantine takes all mappings",
		file: "device/mmap_quarantine.go", old: "i == j && inaccessible.Load() >= mostRuns", new: "i == j && inaccessible.Load() < 0",
		killer: killer{pkg: "device", test: "TestQuarantineKeepsMappings"},
	},
	{
		name: "device: freed memory is found and held again",
		file: "device/collected.go", old: "r.back != nil && !r.gone", new: "r.back != nil",
		killer: killer{pkg: "device", test: "TestFreedWhenItIsFound"},
	},
	{
		name: "device: a block's end overflows",
		file: "device/copy.go", old: "b.Len > size-b.Off", new: "b.Off+b.Len > size",
		killer: killer{pkg: "device", test: "TestBytesOfABlockBeyondItsRegion"},
	},
	{
		name: "device: a copy's source is not checked",
		file: "device/copy.go", old: "\treturn CheckBlock(src)", new: "\treturn nil",
		killer: killer{pkg: "device", test: "TestConformance"},
	},
	{
		name: "device: Fill leaves the odd tail",
		file: "device/copy.go", old: "for n := 1; n < len(m); {", new: "for n := 1; 2*n <= len(m); {",
		killer: killer{pkg: "device", test: "TestCollectedIsSafeForConcurrentUse"},
	},
	{
		name: "device: a virtual commit counts what is committed",
		file: "device/virtual_range.go", old: "more := n - g.committed.Overlap(off, off+n)", new: "more := n",
		killer: killer{pkg: "device", test: "TestVirtualCapacityIsExact"},
	},
	{
		name: "device: a virtual decommit counts what is not committed",
		file: "device/virtual_range.go", old: "int64(g.committed.Overlap(off, off+n))", new: "int64(n)",
		killer: killer{pkg: "device", test: "TestVirtualCapacityIsExact"},
	},
	{
		name: "device: freed bytes stay taken",
		file: "device/virtual.go", old: "\td.room.Give(int64(r.size))\n", new: "",
		killer: killer{pkg: "device", test: "TestVirtualCapacityIsExact"},
	},
	{
		name: "device: the last byte cannot be had",
		file: "device/internal/base/budget.go", old: "n > b.Total-used", new: "n >= b.Total-used",
		killer: killer{pkg: "device", test: "TestVirtualCapacityIsExact"},
	},
	{
		name: "intervals: removing the middle of one loses its end",
		file: "internal/intervals/intervals.go", old: "\t\tif x.Hi > hi {\n", new: "\t\tif x.Hi > hi && x.Lo >= lo {\n",
		killer: killer{pkg: "internal/intervals", test: "TestIntervalsAreASet"},
	},
	{
		name: "device: a stream goes on after its first error",
		file: "device/stream.go", old: "if s.err == nil {\n\t\ts.err = work()\n\t}", new: "s.err = work()",
		killer: killer{pkg: "device", test: "TestVirtualHasNoContents"},
	},
	{
		name: "device: a device of pinned memory leaves its parent open",
		file: "device/pinned.go", old: "\t\t_ = parent.Close()\n", new: "",
		killer: killer{pkg: "device", test: "TestPinnedThatIsNotThereClosesItsParent"},
	},
	{
		name: "device: a size times its unit overflows",
		file: "device/size.go", old: "high+carry == 0 && ", new: "high+carry >= 0 && ",
		killer: killer{pkg: "device", test: "TestOpenRefusesWhatItCannotUse"},
	},
	{
		name: "sim: an event is done before its work",
		file: "device/sim/stream.go", old: "number: s.dev.number(), at: s.tail}", new: "number: s.dev.number(), at: s.dev.now}",
		killer: killer{pkg: "device/sim", test: "TestLateFaults"},
	},
	{
		name: "sim: a stream does not wait for an event",
		file: "device/sim/stream.go", old: "\t\ts.tail = max(s.tail, own.at)\n", new: "",
		killer: killer{pkg: "device/sim", test: "TestLateFaults"},
	},
	{
		name: "sim: Wait passes no failure on",
		file: "device/sim/stream.go", old: "&work{engine: engineNone, do: own.err}", new: "&work{engine: engineNone, do: func() error { return nil }}",
		killer: killer{pkg: "device/sim", test: "TestLateFaults"},
	},
	{
		name: "sim: work on a stream overtakes what is before it",
		file: "device/sim/stream.go", old: "d.occupy(w.engine, w.cost, s.tail)", new: "d.occupy(w.engine, w.cost, 0)",
		killer: killer{pkg: "device/sim", test: "TestLateFaults"}, fast: true,
	},
	{
		name: "sim: Sync does not wait",
		file: "device/sim/stream.go", old: "\ts.dev.reach(s.tail)\n", new: "",
		killer: killer{pkg: "device/sim", test: "TestCosts"},
	},
	{
		name: "sim: work before a failure is dropped, too",
		file: "device/sim/stream.go", old: "s.err != nil && s.at < before", new: "s.err != nil",
		killer: killer{pkg: "device/sim", test: "TestLateMistake"},
	},
	{
		name: "sim: a late copy reads its source at once",
		file: "device/sim/copy.go", old: "\tw := &work{uses: []device.Block{dst, src}, do: func() error {\n", new: "\td.move(at[0], at[1], dst.Len)\n\tw := &work{uses: []device.Block{dst, src}, do: func() error {\n\t\treturn nil\n",
		killer: killer{pkg: "device/sim", test: "TestLateWaits"},
	},
	{
		name: "sim: use after free is not noticed",
		file: "device/sim/copy.go", old: "\tif r.gone {\n", new: "\tif false {\n",
		killer: killer{pkg: "device/sim", test: "TestUsedAfterFree"},
	},
	{
		name: "sim: freed bytes stay counted",
		file: "device/sim/sim.go", old: "\td.stats.ActiveBytes -= int64(r.size)\n", new: "",
		killer: killer{pkg: "device/sim", test: "TestCapacityIsExact"},
	},
	{
		name: "sim: Close drops what is enqueued",
		file: "device/sim/sim.go", old: "\td.settle()\n", new: "",
		killer: killer{pkg: "device/sim", test: "TestLateClose"},
	},
	{
		name: "sim: one fault shifts another",
		file: "device/sim/fault.go", old: "\town := f.of[c].strike()\n\tif f.loss.strike() != nil {\n\t\tf.lost = true\n\t}\n", new: "\town := f.of[c].strike()\n\tif own == nil && f.loss.strike() != nil {\n\t\tf.lost = true\n\t}\n",
		killer: killer{pkg: "device/sim", test: "TestFaultsCountEachCall"},
	},
	{
		name: "sim: a lost device comes back",
		file: "device/sim/fault.go", old: "if f.loss.strike() != nil {\n\t\tf.lost = true\n\t}", new: "f.lost = f.loss.strike() != nil",
		killer: killer{pkg: "device/sim", test: "TestLost"},
	},
	{
		name: "sim: a write ends at the page",
		file: "device/sim/region.go", old: "m, off = m[n:], off+n\n\t}\n}\n\n// page", new: "_ = n\n\t\tbreak\n\t}\n}\n\n// page",
		killer: killer{pkg: "device/sim", test: "TestLaunch"},
	},
	{
		name: "sim: overlapping copies within go wrong",
		file: "device/sim/copy.go", old: "\t\tfrom.region.read(m, from.off)\n\t\tto.region.write(to.off, m)\n", new: "\t\tfor i := range m {\n\t\t\tfrom.region.read(m[:1], from.off+i)\n\t\t\tto.region.write(to.off+i, m[:1])\n\t\t}\n",
		killer: killer{pkg: "device/sim", test: "TestConformance"},
	},
}
