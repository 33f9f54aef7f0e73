package main

// Mutants of what lies beneath the strategies, and of small helpers.
var ofUpstream = []mutant{
	{
		name: "upstream: memory that could not go back is not counted",
		file: "slab/internal/upstream/accounting.go",
		old:  "\t\t\ta.add(n)\n", new: "",
		killer: killer{pkg: "slab/internal/upstream", test: "TestAccountingCountsWhatIsCommitted"}, fast: true,
	},
	{
		name: "upstream: the caller is counted, not the region",
		file: "slab/internal/upstream/accounting.go",
		old:  "a.add(a.up.Footprint(b))", new: "a.add(int64(b.Len))",
		killer: killer{pkg: "slab/internal/upstream", test: "TestAccountingCountsFootprints"},
	},
	{
		name: "upstream: memory in quarantine stays managed",
		file: "slab/internal/upstream/accounting.go",
		old:  "\ta.passOff(n, func() {}, func() bool {", new: "\ta.passOff(n-n, func() {}, func() bool {",
		killer: killer{pkg: "slab/internal/upstream", test: "TestGiveUpIsNotManaged"},
	},
	{
		name: "upstream: the pool is not told of a region that leaves",
		file: "slab/internal/upstream/accounting.go",
		old:  "stays := a.leaving(b.Region)\n", new: "stays := func() {}\n",
		killer: killer{pkg: "slab/internal/upstream", test: "TestAccountingCountsFootprints"},
	},
	{
		name: "upstream: a commit without a call counts as one",
		file: "slab/internal/upstream/accounting.go",
		old:  "called := off+n > r.Ready()", new: "called := off+n > 0 || r.Ready() > 0",
		killer: killer{pkg: "slab/internal/upstream", test: "TestAccountingCountsCalls"},
	},
	{
		name: "upstream: an Alloc does not pass",
		file: "slab/internal/upstream/accounting.go",
		old:  "\ta.passing.Add(1)\n\tdefer a.passing.Add(-1)\n\tb, err", new: "\tb, err",
		killer: killer{pkg: "slab/internal/upstream", test: "TestPassing"},
	},
	{
		name: "upstream: what goes back does not pass",
		file: "slab/internal/upstream/accounting.go",
		old:  "\ta.passing.Add(1)\n\tdefer a.passing.Add(-1)\n\ta.managed", new: "\ta.managed",
		killer: killer{pkg: "slab/internal/upstream", test: "TestPassing"},
	},
	{
		name: "upstream: what goes back is counted off late",
		file: "slab/internal/upstream/accounting.go",
		old:  "\ta.managed.Add(-n)\n\tdefer func() {\n\t\tif !gone {", new: "\tdefer func() {\n\t\ta.managed.Add(-n)\n\t\tif !gone {",
		killer: killer{pkg: "slab/internal/upstream", test: "TestPassing"},
	},
	{
		name: "upstream: a Commit does not pass",
		file: "slab/internal/upstream/accounting.go",
		old:  "\tr.a.passing.Add(1)\n\tdefer r.a.passing.Add(-1)\n", new: "",
		killer: killer{pkg: "slab/internal/upstream", test: "TestPassing"},
	},
	{
		name: "upstream: the pool is not told of a region that stays",
		file: "slab/internal/upstream/accounting.go",
		old:  "\t\t\tstays()\n", new: "",
		killer: killer{pkg: "slab", test: "TestAHeapRegionWhoseFreePanicsIsHeld"},
	},
	{
		name: "upstream: what a closed range had stays managed",
		file: "slab/internal/upstream/accounting.go",
		old:  "r.a.giveBack(bytes, r.Range.Close", new: "r.a.giveBack(bytes-bytes, r.Range.Close",
		killer: killer{pkg: "slab/internal/upstream", test: "TestAccountingCountsWhatIsCommitted"},
	},
	{
		name: "upstream: odd addresses pass",
		file: "slab/internal/upstream/checked.go",
		old:  "a&uintptr(c.align-1) != 0", new: "a&uintptr(c.align-1) == uintptr(c.align)",
		killer: killer{pkg: "slab/internal/upstream", test: "TestABlockAgainstTheContractGoesBack"},
	},
	{
		name: "upstream: a block that ends behind its region passes",
		file: "slab/internal/upstream/checked.go",
		old:  "b.Region.Size()-b.Off < size", new: "b.Region.Size() < size",
		killer: killer{pkg: "slab/internal/upstream", test: "TestABlockAgainstTheContractGoesBack"},
	},
	{
		name: "upstream: a block against the contract is kept",
		file: "slab/internal/upstream/checked.go",
		old:  "\t\t\tc.source.Free(b)\n\t\t}\n", new: "\t\t}\n",
		killer: killer{pkg: "slab/internal/upstream", test: "TestABlockAgainstTheContractGoesBack"},
	},
	{
		name: "upstream: FreeAll loses the block that was refused",
		file: "slab/internal/upstream/checked.go",
		old:  "keep(list[i:])", new: "keep(list[i+1:])",
		killer: killer{pkg: "slab/internal/upstream", test: "TestFreeAllKeepsWhatIsLeft"},
	},
	{
		name: "upstream: a removed block is found again",
		file: "slab/internal/upstream/regions.go",
		old:  "\tr.last = part{}\n", new: "",
		killer: killer{pkg: "slab/internal/upstream", test: "TestRegionsLikeAModel"},
	},
	{
		name: "upstream: a block that ends behind another is found in it",
		file: "slab/internal/upstream/regions.go",
		old:  " && b.Off-p.block.Off <= p.block.Len-b.Len", new: " && b.Off-p.block.Off <= p.block.Len",
		killer: killer{pkg: "slab/internal/upstream", test: "TestRegionsDoNotFindWhatIsNoPartOfABlock"},
	},
	{
		name: "bitset: Next looks behind where it begins",
		file: "slab/internal/bitset/bitset.go",
		old:  "\t\t\tm &= ^uint64(0) << (w & 63)\n", new: "\t\t\t_ = m\n",
		killer: killer{pkg: "slab/internal/bitset", test: "TestBitsetLikeAModel"},
	},
	{
		name: "bitset: a word without bits stays in the summary",
		file: "slab/internal/bitset/bitset.go",
		old:  "left == 0 {", new: "false {",
		killer: killer{pkg: "slab/internal/bitset", test: "TestAnEmptyBitsetHasNothing"},
	},
	{
		name: "align: Down rounds up",
		file: "slab/internal/align/align.go",
		old:  "return n &^ (to - 1) }", new: "return (n + to - 1) &^ (to - 1) }",
		killer: killer{pkg: "slab/internal/align", test: "TestUpAndDownEncloseANumber"},
	},
	{
		name: "reserve: what was learned fails an Open without room",
		file: "slab/internal/reserve/reserve.go",
		old:  "!r.wanted && upstream", new: "r.wanted && upstream",
		killer: killer{pkg: "slab/internal/reserve", test: "TestTakeWithoutRoom"},
	},
	{
		name: "reserve: a reserve passes its bound",
		file: "slab/internal/reserve/reserve.go",
		old:  "r.bytes = min(r.bytes, most); r.bytes", new: "r.bytes = max(r.bytes, 0); r.bytes",
		killer: killer{pkg: "slab/internal/reserve", test: "TestOf"},
	},
}
