package main

// Mutants of what looks after released buffers.
var ofGuards = []mutant{
	{
		name: "guard: a view is told of before its time",
		file: "slab/internal/guard/look.go",
		old:  "time.Since(k.at) >= g.o.Linger", new: "time.Since(k.at) >= 0",
		killer: killer{pkg: "slab/internal/guard", test: "TestAViewMayLinger"},
	},
	{
		name: "guard: views have no time",
		file: "slab/guard.go",
		old:  " Linger: linger,", new: "",
		killer: killer{pkg: "slab", test: "TestGuardFindsViewsThatOutliveTheirBuffers"},
	},
}
