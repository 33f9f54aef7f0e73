package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// straight follows each release as far as nothing decides where the program goes on. What
// is used there is used after the release, though other paths may lead there, too.
func (b *body) straight(at map[*ssa.BasicBlock]*state, t teller) {
	for _, block := range b.fn.Blocks {
		s := at[block]
		if s == nil {
			continue // nothing leads here
		}
		s = s.clone()
		for i, instr := range block.Instrs {
			b.step1(instr, s, nil)
			if call, ok := instr.(*ssa.Call); ok && len(b.effects(b.call(call), call)) > 0 {
				b.walk(block, i+1, s.clone(), t)
			}
		}
	}
}

// walk goes on from an instruction of a block, in each block once.
func (b *body) walk(block *ssa.BasicBlock, i int, s *state, t teller) {
	released := block
	for seen := map[*ssa.BasicBlock]bool{}; !seen[block]; i = 0 {
		seen[block] = i == 0
		b.through(block.Instrs[i:], s, t)
		next := b.certain(block, released)
		if next == nil {
			return
		}
		s = b.along(s, block, next)
		block = next
	}
}

// certain returns the block that the program goes on with, nil if that is not certain. A
// loop that goes over a range, and released in this round without a condition, is taken to
// have another round.
func (b *body) certain(block, released *ssa.BasicBlock) *ssa.BasicBlock {
	switch len(block.Succs) {
	case 1:
		return block.Succs[0]
	case 2:
		if head := headOf(block); head != nil && head.Dominates(released) && everyRound(head, released) {
			return block.Succs[0]
		}
	}
	return nil
}

// headOf returns the head of the loop over a range or a count that a block decides on, nil
// if it decides on something else. It is the block itself, or the one that is next.
func headOf(block *ssa.BasicBlock) *ssa.BasicBlock {
	next := block.Succs[0]
	switch {
	case next.Dominates(block) && counts(block, next):
		return next
	case isHead(block) && counts(block, block):
		return block
	}
	return nil
}

// isHead says whether a block is the head of a loop.
func isHead(block *ssa.BasicBlock) bool { return slices.ContainsFunc(block.Preds, block.Dominates) }

// everyRound says whether all ways back to the head of a loop lead through a block.
func everyRound(head, through *ssa.BasicBlock) bool {
	for _, from := range head.Preds {
		if head.Dominates(from) && !through.Dominates(from) {
			return false
		}
	}
	return true
}

// counts says whether a block decides by a range, or by the count of the loop with a head.
func counts(block, head *ssa.BasicBlock) bool {
	branch := block.Instrs[len(block.Instrs)-1].(*ssa.If)
	switch cond := branch.Cond.(type) {
	case *ssa.Extract:
		_, ok := cond.Tuple.(*ssa.Next)
		return ok
	case *ssa.BinOp:
		return steps(cond.X, head)
	}
	return false
}

// steps says whether a value is the count of a loop: a Phi of its head, or that and one.
func steps(v ssa.Value, head *ssa.BasicBlock) bool {
	if sum, ok := v.(*ssa.BinOp); ok {
		v = sum.X
	}
	phi, ok := v.(*ssa.Phi)
	return ok && phi.Block() == head
}
