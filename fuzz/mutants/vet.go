package main

// Mutants of the analyzer, which is in a module of its own.
var ofVet = []mutant{
	{
		name: "vet: a release on one way counts for all",
		file: "vet/always.go", old: "return yes || no", new: "return yes && no",
		killer: killer{pkg: "vet", test: "TestKinds/facts"},
	},
	{
		name: "vet: a release in a goroutine has been made",
		file: "vet/always.go", old: "isGo := instr.(*ssa.Go); isGo", new: "isGo := instr.(*ssa.Go); false && isGo",
		killer: killer{pkg: "vet", test: "TestKinds/helpers"},
	},
	{
		name: "vet: one of several references ends memory",
		file: "vet/effects.go", old: " || r.kind.counted && !b.hasTheOne(base)", new: "",
		killer: killer{pkg: "vet", test: "TestKinds/others"},
	},
	{
		name: "vet: a Grow that fails has ended the buffer",
		file: "vet/effects.go", old: "e.end.unless = b.base(err)", new: "_ = err",
		killer: killer{pkg: "vet", test: "TestKinds/grow"},
	},
	{
		name: "vet: a program that asks whether a buffer was released is told",
		file: "vet/effects.go", old: " || asks(call)", new: "",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: methods of what has ended are no use",
		file: "vet/use.go", old: "case call.is(use, show, part, grow, lend) && v == call.subject():\n\t\treturn true", new: "case call.is(use, show, part, grow, lend) && v == call.subject():\n\t\treturn false",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: reading what has ended is no use",
		file: "vet/use.go", old: "return instr.Op == token.MUL && b.cell(v) == nil", new: "return instr.Op == token.ARROW",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: what ended on one path has ended on all",
		file: "vet/must.go", old: "in.meet(known)", new: "_ = known",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: slices do not end with their buffer",
		file: "vet/must.go", old: "\t\tb.endViews(effect, s)\n", new: "",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: a defer runs where it is",
		file: "vet/must.go", old: "s.defers = append(s.defers, instr)", new: "b.apply(b.call(instr), instr, s, t)",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: tests are told of leaks",
		file: "vet/leak.go", old: "if b.c.inTest(b.fn) {", new: "if false {",
		killer: killer{pkg: "vet", test: "TestKinds/ignored"},
	},
	{
		name: "vet: what is returned leaks",
		file: "vet/leak.go", old: " && !f.returned {", new: " {",
		killer: killer{pkg: "vet", test: "TestKinds/helpers|ignored"},
	},
	{
		name: "vet: an error counts where the buffer is not used",
		file: "vet/leak.go", old: "f.used && errorIndex", new: "errorIndex",
		killer: killer{pkg: "vet", test: "TestKinds/ignored"},
	},
	{
		name: "vet: a function that waits is told all the same",
		file: "vet/outlive.go", old: "how != stored && *waits || ", new: "",
		killer: killer{pkg: "vet", test: "TestKinds/outlive"},
	},
	{
		name: "vet: a goroutine that releases its buffer outlives it",
		file: "vet/goroutine.go", old: " || !cell.isReleased(closure) {", new: " || true {",
		killer: killer{pkg: "vet", test: "TestKinds/outlive"},
	},
	{
		name: "vet: a lent slice that is forgotten in time is kept",
		file: "vet/with.go", old: " && !b.isForgotten(v, instr) {", new: " && (true || b.isForgotten(v, instr)) {",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: one round of a loop that releases decides for the next",
		file: "vet/straight.go", old: " && everyRound(head, released) {", new: " {",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: a field that was stored to is what it was",
		file: "vet/field.go", old: "return b.cell(instr.Addr) == nil", new: "return false",
		killer: killer{pkg: "vet", test: "TestKinds/ended"},
	},
	{
		name: "vet: an Arena ends by Release for good",
		file: "vet/kinds.go", old: "noun: \"Arena\", owned: true, reusable: true", new: "noun: \"Arena\", owned: true",
		killer: killer{pkg: "vet", test: "TestKinds/twice"},
	},
	{
		name: "vet: other packages know nothing of a function",
		file: "vet/life.go", old: "c.pass.ExportObjectFact(object, l)", new: "_ = object",
		killer: killer{pkg: "vet", test: "TestKinds/facts"},
	},
}
