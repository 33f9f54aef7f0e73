package vet

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// findUse tells of what an instruction uses that has ended.
func (b *body) findUse(instr ssa.Instruction, s *state, t teller) {
	for _, operand := range instr.Operands(nil) {
		if *operand == nil {
			continue
		}
		base := b.base(*operand)
		if e, ended := s.ended[base]; ended && b.uses(instr, *operand, e) {
			t.used(instr, base, e)
		}
	}
}

// uses says whether an instruction uses a value that has ended.
func (b *body) uses(instr ssa.Instruction, v ssa.Value, e end) bool {
	if call, ok := instr.(ssa.CallInstruction); ok {
		return b.callUses(b.call(call), v, e)
	}
	return e.kind.access && b.accesses(instr, v)
}

// callUses says whether a call uses an argument that has ended.
func (b *body) callUses(call *call, v ssa.Value, e end) bool {
	switch {
	case call.is(neutral, release, reset, retain, acquire) && v == call.subject() && !e.kind.access:
		return call.is(acquire) && e.kind.counted
	case call.is(release) && v == call.subject():
		return false // a second release is told of elsewhere
	case call.is(use, show, part, grow, lend) && v == call.subject():
		return true
	case !e.kind.access || isLength(call):
		return false
	}
	return call.life == nil || !b.endsArgument(call, v)
}

// endsArgument says whether a function is one that releases an argument.
func (b *body) endsArgument(call *call, v ssa.Value) bool {
	for i := range call.life.releases() {
		if i < len(call.args) && call.args[i] == v {
			return true
		}
	}
	return false
}

// isLength says whether a call looks at a slice only, and not at its memory.
func isLength(call *call) bool {
	builtin, ok := call.instr.Common().Value.(*ssa.Builtin)
	return ok && (builtin.Name() == "len" || builtin.Name() == "cap")
}

// accesses says whether an instruction that is no call reads or writes the memory of a
// value, or hands it to somebody.
func (b *body) accesses(instr ssa.Instruction, v ssa.Value) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op == token.MUL && b.cell(v) == nil
	case *ssa.Store:
		if instr.Addr == v {
			return b.cell(v) == nil
		}
		return b.cell(instr.Addr) == nil
	case *ssa.Convert:
		return !isNumber(instr.Type())
	case *ssa.MapUpdate, *ssa.Send, *ssa.Select, *ssa.Return, *ssa.Lookup, *ssa.Index, *ssa.Range:
		return true
	}
	return false
}
