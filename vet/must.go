package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A teller is told of what is wrong while instructions are gone through. It may be nil.
type teller interface {
	used(at ssa.Instruction, what ssa.Value, e end)
	again(at ssa.Instruction, what ssa.Value, first, second end)
}

// must returns for each block what has ended on every path to its begin.
func (b *body) must() map[*ssa.BasicBlock]*state {
	at := map[*ssa.BasicBlock]*state{b.fn.Blocks[0]: newState()}
	for work := []*ssa.BasicBlock{b.fn.Blocks[0]}; len(work) > 0; {
		block := work[0]
		work = work[1:]
		s := at[block].clone()
		b.through(block.Instrs, s, nil)
		for _, next := range block.Succs {
			in := b.along(s, block, next)
			known := at[next]
			if known != nil {
				in.meet(known)
			}
			if known == nil || !known.equal(in) {
				at[next] = in
				if !slices.Contains(work, next) {
					work = append(work, next)
				}
			}
		}
	}
	return at
}

// through applies instructions to a state.
func (b *body) through(instrs []ssa.Instruction, s *state, t teller) {
	for _, instr := range instrs {
		b.step1(instr, s, t)
	}
}

// step1 applies an instruction: what it uses, what it makes anew, what it ends.
func (b *body) step1(instr ssa.Instruction, s *state, t teller) {
	if t != nil {
		b.findUse(instr, s, t)
	}
	if v, ok := instr.(ssa.Value); ok {
		if _, isPhi := v.(*ssa.Phi); !isPhi {
			delete(s.ended, v)
		}
	}
	switch instr := instr.(type) {
	case *ssa.Store:
		b.store(instr, s)
	case *ssa.Call:
		b.apply(b.call(instr), instr, s, t)
	case *ssa.Defer:
		s.defers = append(s.defers, instr)
	case *ssa.RunDefers:
		for _, d := range slices.Backward(s.defers) {
			b.apply(b.call(d), instr, s, t)
		}
		s.defers = nil
	}
}

// store gives a variable the state of what it holds from now on.
func (b *body) store(instr *ssa.Store, s *state) {
	if b.cell(instr.Addr) == nil {
		return
	}
	delete(s.ended, instr.Addr)
	if e, ended := s.ended[b.base(instr.Val)]; ended {
		s.ended[instr.Addr] = e
	}
}

// apply ends what a call ends, which may be made later than where it is.
func (b *body) apply(call *call, at ssa.Instruction, s *state, t teller) {
	for _, effect := range b.effects(call, at) {
		if first, twice := s.ended[effect.base]; twice && !effect.viewsOnly && t != nil {
			second := effect.end
			second.at = call.instr
			t.again(at, effect.base, first, second)
		}
		if !effect.viewsOnly {
			if _, twice := s.ended[effect.base]; !twice {
				s.ended[effect.base] = effect.end
			}
		}
		b.endViews(effect, s)
	}
}

func (b *body) endViews(effect effect, s *state) {
	e := effect.end
	e.kind = view
	for v := range b.owners {
		if _, already := s.ended[v]; !already && b.shows(v, effect.base) {
			s.ended[v] = e
		}
	}
}
