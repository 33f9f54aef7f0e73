package vet

import (
	"go/token"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A state is what holds at a point of a function: which bases have ended, and which calls
// are deferred. An end that is not on every path is not in it.
type state struct {
	ended  map[ssa.Value]end
	defers []*ssa.Defer
}

func newState() *state { return &state{ended: map[ssa.Value]end{}} }

func (s *state) clone() *state {
	return &state{maps.Clone(s.ended), slices.Clone(s.defers)}
}

// meet keeps what holds in t, too.
func (s *state) meet(t *state) {
	for v, e := range s.ended {
		other, both := t.ended[v]
		if !both {
			delete(s.ended, v)
		} else if other.unless != nil && e.unless == nil {
			s.ended[v] = other
		}
	}
	s.defers = slices.DeleteFunc(s.defers, func(d *ssa.Defer) bool { return !slices.Contains(t.defers, d) })
}

func (s *state) equal(t *state) bool {
	return maps.EqualFunc(s.ended, t.ended, func(a, b end) bool { return a.at == b.at && a.unless == b.unless }) &&
		slices.Equal(s.defers, t.defers)
}

// along returns the state at the begin of a block that the one of s leads to.
func (b *body) along(s *state, from, to *ssa.BasicBlock) *state {
	out := s.clone()
	b.decide(out, from, to)
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if b.base(phi) != phi {
			continue
		}
		if e, ended := s.ended[b.base(phi.Edges[slices.Index(to.Preds, from)])]; ended {
			out.ended[phi] = e
		} else {
			delete(out.ended, phi)
		}
	}
	return out
}

// decide uses what a comparison with nil says: that a Grow has failed or not, or that
// there is nothing that could have ended.
func (b *body) decide(s *state, from, to *ssa.BasicBlock) {
	v, isNil, ok := nilOn(from, to)
	if !ok {
		return
	}
	base := b.base(v)
	if isNil {
		delete(s.ended, base)
	}
	for of, e := range s.ended {
		if e.unless == nil || e.unless != base {
			continue
		}
		if isNil {
			e.unless = nil
			s.ended[of] = e
		} else {
			delete(s.ended, of)
		}
	}
}

// nilOn returns the value that a block compares with nil at its end, and whether it is nil
// where that leads to another block.
func nilOn(from, to *ssa.BasicBlock) (v ssa.Value, isNil, ok bool) {
	branch, ok := from.Instrs[len(from.Instrs)-1].(*ssa.If)
	if !ok || from.Succs[0] == from.Succs[1] {
		return nil, false, false
	}
	v, equal, ok := comparedWithNil(branch.Cond)
	return v, equal == (to == from.Succs[0]), ok
}

// comparedWithNil returns what a condition compares with nil, and whether by ==.
func comparedWithNil(cond ssa.Value) (v ssa.Value, equal, ok bool) {
	c, ok := cond.(*ssa.BinOp)
	if !ok || c.Op != token.EQL && c.Op != token.NEQ {
		return nil, false, false
	}
	switch {
	case isNil(c.Y):
		return c.X, c.Op == token.EQL, true
	case isNil(c.X):
		return c.Y, c.Op == token.EQL, true
	}
	return nil, false, false
}
