package vet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// waits says whether the function, or one that it is in or that is in it, waits for others.
func (b *body) waits() bool {
	top := b.fn
	for top.Parent() != nil {
		top = top.Parent()
	}
	for _, f := range withLiterals(nil, top) {
		for _, block := range f.Blocks {
			for _, instr := range block.Instrs {
				if b.mayWait(instr) {
					return true
				}
			}
		}
	}
	return false
}

// mayWait says whether an instruction waits: it receives, selects, or calls a function with
// such a name.
func (b *body) mayWait(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op == token.ARROW
	case *ssa.Select:
		for _, s := range instr.States {
			if s.Dir == types.RecvOnly {
				return true
			}
		}
	case *ssa.Range:
		_, isChan := instr.X.Type().Underlying().(*types.Chan)
		return isChan
	case ssa.CallInstruction:
		call := b.call(instr)
		switch call.name() {
		case "Wait", "Lock", "RLock", "Sync", "Join", "Acquire", "Sleep", "Done":
			return true
		}
	}
	return false
}
