package main

// Mutants of Refs of leases and of unified buffers.
var ofRefs = []mutant{
	{
		name: "refs: a name is given twice",
		file: "internal/refs/table.go", old: "\tt.last++\n", new: "\tt.last = uint64(len(t.of)) + 1\n",
		killer: killer{pkg: "internal/refs", test: "TestANameIsOfOneValue"}, fast: true,
	},
	{
		name: "refs: a name of another table is good",
		file: "internal/refs/table.go", old: "n.Table != t.number", new: "n.Table == 0",
		killer: killer{pkg: "internal/refs", test: "TestANameIsOfOneValue"},
	},
	{
		name: "growpool: a Ref opens a released lease",
		file: "growpool/ref.go", old: "\tif l.released.Load() {\n\t\treturn nil, ErrReleased", new: "\tif l == nil {\n\t\treturn nil, ErrReleased",
		killer: killer{pkg: "growpool", test: "TestLeaseRefsBesideReleases|TestStaleShare"},
	},
	{
		name: "growpool: a Ref's lease does not keep the key",
		file: "growpool/ref.go", old: "\tu.holders++\n", new: "",
		killer: killer{pkg: "growpool", test: "TestARefOpensALease"},
	},
	{
		name: "growpool: Close does not count a Ref's lease",
		file: "growpool/ref.go", old: "\tl.from.count(1)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestCloseCountsLeasesOfRefs"},
	},
	{
		name: "growpool: Release leaves the entry of a Ref",
		file: "growpool/lease.go", old: "\tleases.Remove(l.name)\n", new: "",
		killer: killer{pkg: "growpool", test: "TestRefsLeaveNothing"},
	},
	{
		name: "growpool: the first Release of a shared buffer passes it on",
		file: "growpool/lease.go", old: "return u.holders == 0, nil", new: "return true, nil",
		killer: killer{pkg: "growpool", test: "TestARefOpensALease"},
	},
	{
		name: "growpool: the entry of a forgotten lease stays",
		file: "growpool/ref.go", old: "\t\truntime.AddCleanup(l, leases.Remove, l.name) // of one that the program forgets\n", new: "\t\truntime.KeepAlive(l)\n",
		killer: killer{pkg: "growpool", test: "TestRefsLeaveNothing"},
	},
	{
		name: "unified: a Ref opens another type",
		file: "unified/ref.go", old: "t != x.elem", new: "t.Size() != x.elem.Size()",
		killer: killer{pkg: "unified", test: "TestRefsThatOpenNothing"},
	},
	{
		name: "unified: a Ref opens the array of the next owner",
		file: "unified/ref.go", old: "\tif own.over {\n", new: "\tif false {\n",
		killer: killer{pkg: "unified", test: "TestBufferRefsBesideReleases|TestStaleBuffer"},
	},
	{
		name: "unified: the first Free of several gives the memory back",
		file: "unified/buffer.go", old: "return a.leases == 0, nil", new: "return true, nil",
		killer: killer{pkg: "unified", test: "TestARefOpensABuffer"}, fast: true,
	},
	{
		name: "unified: what the Ref of a view opens cannot be freed",
		file: "unified/buffer.go", old: "b.lo != b.own.lo || b.hi != b.own.hi", new: "b.lo != 0 || b.hi != b.a.n",
		killer: killer{pkg: "unified", test: "TestARefOfAView"},
	},
	{
		name: "unified: each view of the same elements has another Ref",
		file: "unified/ref.go", old: "\t\tb.own.names.of[x] = name\n", new: "",
		killer: killer{pkg: "unified", test: "TestARefOpensABuffer"},
	},
	{
		name: "unified: Free leaves the entries of Refs",
		file: "unified/buffer.go", old: "\tb.own.names.end()\n", new: "",
		killer: killer{pkg: "unified", test: "TestRefsLeaveNothing"},
	},
}
