package vet

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// deferredInLoop reports a value of a loop that is released by a defer: all of them are held until the function
// returns, though the program uses each in its round only.
func (b *body) deferredInLoop(call *ssa.Call, k *kind) bool {
	t, kept := b.endsOn(first(call), k)
	maps.DeleteFunc(t.ends, func(at ssa.Instruction, _ fate) bool { return at.Parent() != b.fn }) // in literals
	if len(kept) > 0 || len(t.ends) != 1 {
		return false
	}
	for v := range t.seen {
		if _, outlivesRound := v.(*ssa.Phi); outlivesRound {
			return false
		}
	}
	for at, f := range t.ends {
		if !f.released || f.passed || !isDeferred(at) || !reaches(at.Block(), call.Block()) {
			return false
		}
		b.report(fmt.Sprint("deferred ", at.Pos()), at, "the release of the %s is deferred in a loop, and runs when the "+
			"function returns: until then each round holds one more; release it in its round", k.noun)
	}
	return true
}

// isDeferred says whether an instruction defers a call, or makes a literal that is deferred.
func isDeferred(at ssa.Instruction) bool {
	if closure, ok := at.(*ssa.MakeClosure); ok {
		return len(*closure.Referrers()) > 0 && onlyDeferred(closure)
	}
	_, ok := at.(*ssa.Defer)
	return ok
}

// reaches says whether a path leads from the end of a block to another, or to itself.
func reaches(from, to *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	for work := slices.Clone(from.Succs); len(work) > 0; work = work[1:] {
		if work[0] == to {
			return true
		}
		if !seen[work[0]] {
			seen[work[0]] = true
			work = append(work, work[0].Succs...)
		}
	}
	return false
}

// overwritten says whether a path has come back to the call, and no variable that has the value then is looked at
// before the loop gives it the next one. A program that releases in the loop may know when it has to.
func (s *search) overwritten(p *way) bool {
	if !s.kind.owned || s.releasedInLoop() {
		return false
	}
	if p.cell != nil {
		return true
	}
	w := &walk{b: s.b}
	old := map[ssa.Value]bool{}
	for phi := range p.phis {
		if w.resolve(p.phis, phi) == s.got {
			old[phi] = true
		}
	}
	block, seen := s.call.Block(), map[*ssa.BasicBlock]bool{}
	if usesAny(block.Instrs[position(s.call)+1:], old) {
		return false
	}
	for work := ways(block); len(work) > 0; work = work[1:] {
		from, to := work[0][0], work[0][1]
		if feeds(from, to, old) {
			return false
		}
		if seen[to] || makesAll(to, old) {
			continue // there they have the next value
		}
		if seen[to] = true; usesAny(to.Instrs, old) {
			return false
		}
		work = append(work, ways(to)...)
	}
	return true
}

// releasedInLoop says whether a release comes before the call in another round.
func (s *search) releasedInLoop() bool {
	for at, f := range s.ends {
		explicit := f.released && at.Parent() == s.b.fn && !isDeferred(at) && !s.fills(at)
		if explicit && reaches(at.Block(), s.call.Block()) {
			return true
		}
	}
	return false
}

// fills says whether an instruction gives the value to a variable that a deferred literal releases.
func (s *search) fills(at ssa.Instruction) bool {
	store, ok := at.(*ssa.Store)
	return ok && s.releasedAtEnd(store.Addr)
}

// ways are the steps from a block to those behind it.
func ways(from *ssa.BasicBlock) (all [][2]*ssa.BasicBlock) {
	for _, to := range from.Succs {
		all = append(all, [2]*ssa.BasicBlock{from, to})
	}
	return all
}

// feeds says whether a Phi of a block takes one of some values on the way from another.
func feeds(from, to *ssa.BasicBlock, values map[ssa.Value]bool) bool {
	for _, instr := range to.Instrs {
		if phi, ok := instr.(*ssa.Phi); ok && values[phi.Edges[slices.Index(to.Preds, from)]] {
			return true
		}
	}
	return false
}

// makesAll says whether a block makes all of some values.
func makesAll(block *ssa.BasicBlock, values map[ssa.Value]bool) bool {
	for v := range values {
		if !madeIn(v, block) {
			return false
		}
	}
	return true
}

// usesAny says whether instructions that are no Phi use one of some values.
func usesAny(instrs []ssa.Instruction, values map[ssa.Value]bool) bool {
	return slices.ContainsFunc(instrs, func(instr ssa.Instruction) bool {
		_, isPhi := instr.(*ssa.Phi)
		return !isPhi && slices.ContainsFunc(instr.Operands(nil), func(v *ssa.Value) bool { return values[*v] })
	})
}
