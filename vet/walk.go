package vet

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// most is how many blocks a walk looks at. A function with more ways than that is left.
const most = 4000

// A walk goes along the paths of a function, as far as what is known on a path does not exclude
// them: what was asked there before, and what a Phi is.
type walk struct {
	b     *body
	got   ssa.Value // that is not nil
	kind  *kind
	visit func(instr ssa.Instruction, p *way) bool // whether the path goes on
	open  map[ssa.Value]bool                       // conditions on which no path is followed
	seen  map[string]bool
}

// A way is what is known on the way to a block.
type way struct {
	phis  map[ssa.Value]ssa.Value
	known map[fact]bool
	// unless is what holds where somebody else has the value: an error is nil, a case was selected.
	unless fact
	// kept is the instruction that gave a slice away.
	kept ssa.Instruction
	// cell is the variable that has the value, and whose last value a deferred literal releases.
	cell ssa.Value
}

// A fact is a condition: a value is true, or equal to a constant.
type fact struct {
	v  ssa.Value
	is string
}

const null = "nil"

// from goes along all paths that lead away from an instruction.
func (w *walk) from(instr ssa.Instruction, p *way) {
	w.seen = map[string]bool{}
	w.along(instr.Block(), position(instr)+1, p)
}

func (w *walk) along(block *ssa.BasicBlock, i int, p *way) {
	for _, instr := range block.Instrs[i:] {
		if !w.visit(instr, p) {
			return
		}
	}
	for i, next := range block.Succs {
		if q := w.enter(block, i, p); q != nil && len(w.seen) < most && !w.seen[q.text(next)] {
			w.seen[q.text(next)] = true
			w.along(next, 0, q)
		}
	}
}

// enter returns what is known in a block that follows another, nil if no path leads there.
func (w *walk) enter(block *ssa.BasicBlock, i int, p *way) *way {
	q := &way{maps.Clone(p.phis), maps.Clone(p.known), p.unless, p.kept, p.cell}
	if branch, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If); ok && !w.learn(q, branch.Cond, i == 0) {
		return nil
	}
	next := block.Succs[i]
	maps.DeleteFunc(q.known, func(f fact, _ bool) bool { return madeIn(f.v, next) })
	before := maps.Clone(q.phis)
	maps.DeleteFunc(q.phis, func(v, _ ssa.Value) bool { return madeIn(v, next) })
	for _, instr := range next.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		q.phis[phi] = w.resolve(before, phi.Edges[slices.Index(next.Preds, block)])
	}
	return q
}

func madeIn(v ssa.Value, block *ssa.BasicBlock) bool {
	instr, ok := v.(ssa.Instruction)
	return ok && instr.Block() == block
}

// resolve returns what a value is on a path.
func (w *walk) resolve(phis map[ssa.Value]ssa.Value, v ssa.Value) ssa.Value {
	for range len(phis) + 2 {
		if on, ok := phis[v]; ok && on != v {
			v = on
		} else if base := w.b.base(v); base != v {
			v = base
		} else {
			break
		}
	}
	return v
}

// holds says whether a Phi has a value on a path.
func (w *walk) holds(p *way, v ssa.Value) bool {
	for phi := range p.phis {
		if w.resolve(p.phis, phi) == v {
			return true
		}
	}
	return false
}

// text tells paths apart that lead to a block.
func (p *way) text(to *ssa.BasicBlock) string {
	var parts []string
	for phi, v := range p.phis {
		parts = append(parts, fmt.Sprint(phi.Name(), v.Name()))
	}
	for f, yes := range p.known {
		parts = append(parts, fmt.Sprint(f.v.Name(), f.is, yes))
	}
	slices.Sort(parts)
	return fmt.Sprint(to.Index, p.unless, p.kept != nil, p.cell != nil, parts)
}
