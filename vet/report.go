package vet

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// check reports what is wrong in a function.
func (b *body) check() {
	at := b.must()
	for _, block := range b.fn.Blocks {
		if s := at[block]; s != nil {
			b.through(block.Instrs, s.clone(), b)
		}
	}
	b.straight(at, b)
	b.leaks()
	b.outlives()
}

// used reports a use of what has ended.
func (b *body) used(at ssa.Instruction, what ssa.Value, e end) {
	if e.wrapped && b.c.inTest(b.fn) {
		return // a test looks at what a release function leaves
	}
	once := fmt.Sprint("use ", b.fn.Pos(), what.Pos(), what.Name(), e.at.Pos())
	if e.how == "Grow" && e.kind != view {
		b.report(once, at, "handle is stale: Grow on line %d has replaced it; use the one that Grow returned",
			b.line(e.at))
		return
	}
	if e.kind == view {
		if e.deferred() {
			b.report(once, at, "slice of the %s is returned, and the deferred %s ends that before: return a copy, or leave the "+
				"%s to the caller", e.of.noun, e.how, e.how)
			return
		}
		b.report(once, at, "slice of the %s is used after its %s on line %d: %s", e.of.noun, e.how, b.line(e.at), e.right())
		return
	}
	if e.deferred() {
		b.report(once, at, "%s is returned after its deferred %s: leave the %s to the caller", e.kind.noun, e.how, e.how)
		return
	}
	b.report(once, at, "%s is used after its %s on line %d: %s", e.kind.noun, e.how, b.line(e.at), e.right())
}

// right says what to do in the place of a use after an end.
func (e end) right() string {
	if e.how == "Grow" {
		return "ask the handle that Grow returned for its bytes"
	}
	return "the " + e.how + " belongs behind the last use"
}

// again reports a second end of a value.
func (b *body) again(at ssa.Instruction, what ssa.Value, first, second end) {
	if call, ok := second.at.(*ssa.Call); ok && (answers(call) || b.c.inTest(b.fn) && follows(call, first.at)) {
		return // the program looks at the error, or a test means it
	}
	once := fmt.Sprint("again ", b.fn.Pos(), what.Pos(), what.Name(), first.at.Pos())
	_, deferred := at.(*ssa.RunDefers)
	switch {
	case first.how == "Grow" && deferred:
		b.report(once, first.at, "Grow ends the handle that the %s on line %d is deferred of: defer a func literal that "+
			"releases what the variable has then", second.how, b.line(second.at))
	case first.how == "Grow":
		b.report(once, second.at, "handle is stale: Grow on line %d has replaced it; use the one that Grow returned",
			b.line(first.at))
	case deferred && !first.deferred():
		b.report(once, first.at, "%s is released here and again by the %s deferred on line %d: keep one of the two",
			first.kind.noun, second.how, b.line(second.at))
	default:
		b.report(once, second.at, "%s is released again after %s on line %d: keep one of the two", first.kind.noun,
			first.how, b.line(first.at))
	}
}

// follows says whether a call is the next instruction after another.
func follows(call *ssa.Call, at ssa.Instruction) bool {
	return call.Block() == at.Block() && position(call) == position(at)+1
}

// answers says whether the program takes the result of a call.
func answers(call *ssa.Call) bool { return call.Referrers() != nil && len(*call.Referrers()) > 0 }

// deferred says whether the end came when the function returned.
func (e end) deferred() bool {
	_, ok := e.at.(*ssa.RunDefers)
	return ok
}

// report makes a report, the same one and the same text at a place only once.
func (b *body) report(once string, at ssa.Instruction, format string, args ...any) {
	d := analysis.Diagnostic{Pos: place(at), Message: fmt.Sprintf(format, args...)}
	same := fmt.Sprint(d.Pos, d.Message)
	if !b.c.told[once] && !b.c.told[same] {
		b.c.pass.Report(d)
	}
	b.c.told[once], b.c.told[same] = true, true
}

// line is the line of an instruction.
func (b *body) line(at ssa.Instruction) int { return b.c.pass.Fset.Position(place(at)).Line }

// place is where an instruction is, or the next before it that is somewhere.
func place(at ssa.Instruction) token.Pos {
	if at.Pos().IsValid() {
		return at.Pos()
	}
	for _, operand := range at.Operands(nil) {
		if *operand != nil && (*operand).Pos().IsValid() && (*operand).Parent() == at.Parent() {
			return (*operand).Pos()
		}
	}
	instrs := at.Block().Instrs
	for i := position(at); i >= 0; i-- {
		if instrs[i].Pos().IsValid() {
			return instrs[i].Pos()
		}
	}
	return at.Parent().Pos()
}
