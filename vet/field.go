package vet

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// sameBefore returns an earlier load of the same field, between which and this one nothing
// can have changed it: they give the same value. nil if there is none.
func (b *body) sameBefore(load *ssa.UnOp) ssa.Value {
	field, ok := load.X.(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	block, i := load.Block(), position(load)
	for {
		for i--; i >= 0; i-- {
			instr := block.Instrs[i]
			if earlier, ok := instr.(*ssa.UnOp); ok && b.isLoadOf(earlier, field) {
				return earlier
			}
			if b.mayChange(instr) {
				return nil
			}
		}
		if len(block.Preds) != 1 {
			return nil
		}
		block = block.Preds[0]
		i = len(block.Instrs)
	}
}

// isLoadOf says whether a load is of a field of the same struct.
func (b *body) isLoadOf(load *ssa.UnOp, field *ssa.FieldAddr) bool {
	other, ok := load.X.(*ssa.FieldAddr)
	return ok && load.Op == token.MUL && other.Field == field.Field && b.structAt(other.X) == b.structAt(field.X)
}

// structAt returns the base of a pointer to a struct, unless it leads into another struct.
func (b *body) structAt(v ssa.Value) ssa.Value {
	if _, nested := v.(*ssa.FieldAddr); nested {
		return v
	}
	return b.base(v)
}

// mayChange says whether an instruction may write to a field: a store that is not to a
// variable, and a call of a function that is not in the table.
func (b *body) mayChange(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Store:
		return b.cell(instr.Addr) == nil
	case *ssa.Call:
		if _, ok := instr.Call.Value.(*ssa.Builtin); ok {
			return false
		}
		call := b.c.call(instr)
		return call.rule == nil || call.is(lend)
	case *ssa.RunDefers:
		return true
	}
	return false
}
