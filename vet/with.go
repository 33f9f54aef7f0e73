package vet

import (
	"fmt"

	"golang.org/x/tools/go/ssa"
)

// lent reports a function literal that keeps the slice that With lends to it, or one of the buffer that With
// lends: in a variable that is read after With, in a field, or with a goroutine.
func (b *body) lent(instr *ssa.Call) {
	call := b.call(instr)
	if !call.is(lend) || len(call.args) < 2 {
		return
	}
	f := literalOf(call.args[len(call.args)-1])
	if f == nil || len(f.Params) != 1 {
		return
	}
	inner := b.c.body(f)
	for _, block := range f.Blocks {
		for _, at := range block.Instrs {
			if how := inner.keeps(at, f.Params[0]); how != "" {
				inner.report(fmt.Sprint("lent ", at.Pos()), at, "slice is %s, and %s ends when its function returns: keep a copy",
					how, call.name())
			}
		}
	}
}

// literalOf returns the function literal that a value is, nil if it is none.
func literalOf(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.MakeClosure:
		return v.Fn.(*ssa.Function)
	case *ssa.Function:
		if v.Blocks != nil {
			return v
		}
	}
	return nil
}

// keeps says how an instruction keeps a lent slice, "" if it does not.
func (b *body) keeps(instr ssa.Instruction, lent ssa.Value) string {
	switch instr := instr.(type) {
	case *ssa.Store:
		if !b.isLent(instr.Val, lent) || !isSlice(instr.Val) {
			return ""
		}
		if v, ok := instr.Addr.(*ssa.FreeVar); ok && !b.isForgotten(v, instr) {
			return "kept in a variable"
		}
		if b.isFieldOfOthers(instr.Addr) && !b.clears(instr) {
			return stored
		}
	case *ssa.Send:
		if b.isLent(instr.X, lent) && !b.waits() {
			return sent
		}
	case *ssa.Go:
		for _, arg := range instr.Call.Args {
			if b.isLent(arg, lent) && !b.waits() {
				return launched
			}
		}
	}
	return ""
}

// isLent says whether a value is what was lent, or a slice of it.
func (b *body) isLent(v, lent ssa.Value) bool {
	base := b.base(v)
	return base == lent || b.shows(base, lent)
}

// isForgotten says whether a captured variable is given another value later in the literal,
// or is read nowhere but in it.
func (b *body) isForgotten(v *ssa.FreeVar, store *ssa.Store) bool {
	for _, r := range *v.Referrers() {
		if s, ok := r.(*ssa.Store); ok && s != store {
			return true
		}
	}
	for i, free := range b.fn.FreeVars {
		if free == v {
			return !b.readOutside(i)
		}
	}
	return false
}

// readOutside says whether the function that a literal is in reads one of its variables.
func (b *body) readOutside(i int) bool {
	for _, block := range b.fn.Parent().Blocks {
		for _, instr := range block.Instrs {
			closure, ok := instr.(*ssa.MakeClosure)
			if !ok || closure.Fn != b.fn {
				continue
			}
			for _, r := range *closure.Bindings[i].Referrers() {
				if _, isLoad := r.(*ssa.UnOp); isLoad {
					return true
				}
			}
		}
	}
	return false
}
