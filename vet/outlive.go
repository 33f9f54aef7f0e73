package vet

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// outlives reports slices that are stored in a field, put into a list, sent, or used by a goroutine, while
// the function goes on to release what they show. A function that waits for anything may
// wait for the receiver of the slice, so there is no report then.
func (b *body) outlives() {
	var waits *bool
	for _, block := range b.fn.Blocks {
		for _, instr := range block.Instrs {
			if call, ok := instr.(*ssa.Call); ok {
				b.lent(call)
			}
			for shown, how := range b.given(instr) {
				if waits == nil {
					w := b.waits()
					waits = &w
				}
				ends := b.endAfter(instr, shown)
				if ends == nil || how != stored && how != listed && *waits {
					continue
				}
				if how == stored && b.clears(instr.(*ssa.Store)) {
					continue
				}
				what := "slice of the "
				if b.owners[shown] == nil {
					what = ""
				}
				once := fmt.Sprint("outlives ", instr.Pos(), shown.Name())
				b.report(once, instr, "%s%s is %s, and outlives the %s on line %d: %s", what, ends.of.noun, how, ends.how,
					b.line(ends.at), fmt.Sprintf(instead[how], ends.how))
			}
		}
	}
}

// How a slice leaves a function that goes on.
const (
	stored   = "stored in a field"
	sent     = "sent"
	launched = "used by a goroutine"
	listed   = "put into a list that is kept"
)

// instead is what is right.
var instead = map[string]string{
	stored:   "store a copy, or leave the %s to the owner of the field",
	sent:     "send a copy, or leave the %s to the receiver",
	launched: "leave the %s to the goroutine",
	listed:   "append a copy, or leave the %s to the owner of the list",
}

// given returns the views that an instruction gives to somebody who may use them later,
// and how.
func (b *body) given(instr ssa.Instruction) map[ssa.Value]string {
	out := map[ssa.Value]string{}
	add := func(v ssa.Value, how string) {
		if base := b.base(v); b.owners[base] != nil || b.isBytes(base) || how == launched && b.isHandle(base) {
			out[base] = how
		}
	}
	switch instr := instr.(type) {
	case *ssa.Store:
		if b.isFieldOfOthers(instr.Addr) && isSlice(instr.Val) {
			add(instr.Val, stored)
		} else if b.isListed(instr) {
			add(instr.Val, listed)
		}
	case *ssa.Send:
		add(instr.X, sent)
	case *ssa.Select:
		for _, s := range instr.States {
			if s.Send != nil {
				add(s.Send, sent)
			}
		}
	case *ssa.Go:
		for _, arg := range instr.Call.Args {
			add(arg, launched)
		}
		b.launch(instr, add)
	}
	return out
}

// isBytes says whether a value is a slice of GetBytes.
func (b *body) isBytes(base ssa.Value) bool {
	instr, ok := resultOf(base)
	return ok && b.makes(instr, bytes)
}

// isFieldOfOthers says whether an address is that of a field of something that the function
// was given: a parameter, the receiver, a variable of the package.
func (b *body) isFieldOfOthers(address ssa.Value) bool {
	if _, ok := address.(*ssa.Global); ok {
		return true
	}
	field, ok := address.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	for {
		switch x := b.base(field.X).(type) {
		case *ssa.Parameter, *ssa.Global:
			return true
		case *ssa.UnOp:
			inner, ok := x.X.(*ssa.FieldAddr)
			if !ok {
				return false
			}
			field = inner
		default:
			return false
		}
	}
}

// endAfter returns what ends a view after an instruction: a release that can follow, or one
// that is deferred on the way. nil if there is none.
func (b *body) endAfter(from ssa.Instruction, shown ssa.Value) *end {
	if e := b.deferredBefore(from, shown); e != nil {
		return e
	}
	seen := map[*ssa.BasicBlock]bool{}
	block, i := from.Block(), position(from)+1
	for work := []*ssa.BasicBlock{block}; len(work) > 0; i = 0 {
		block, work = work[0], work[1:]
		e, on := b.firstEnd(block.Instrs[i:], shown)
		if e != nil {
			return e
		}
		if !on {
			continue
		}
		for _, next := range block.Succs {
			if !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	return nil
}

// firstEnd returns the first end of a view in instructions, and whether the view goes on
// after them: not where it is made anew.
func (b *body) firstEnd(instrs []ssa.Instruction, shown ssa.Value) (*end, bool) {
	for _, instr := range instrs {
		if v, ok := instr.(ssa.Value); ok && (v == shown || b.shows(shown, v)) {
			return nil, false
		}
		switch instr := instr.(type) {
		case *ssa.Call, *ssa.Defer:
			if e := b.endBy(b.call(instr.(ssa.CallInstruction)), instr, shown); e != nil {
				return e, false
			}
		}
	}
	return nil, true
}

// deferredBefore returns the end of a view by a defer that is on every way to an instruction.
func (b *body) deferredBefore(at ssa.Instruction, shown ssa.Value) *end {
	for _, block := range b.fn.Blocks {
		if !block.Dominates(at.Block()) {
			continue
		}
		for _, instr := range block.Instrs {
			if instr == at {
				break
			}
			if d, ok := instr.(*ssa.Defer); ok {
				if e := b.endBy(b.call(d), d, shown); e != nil {
					return e
				}
			}
		}
	}
	return nil
}

// endBy returns the end that a call is for a view, nil if it is none.
func (b *body) endBy(call *call, at ssa.Instruction, shown ssa.Value) *end {
	for _, e := range b.effects(call, at) {
		if b.shows(shown, e.base) || shown == e.base {
			return &e.end
		}
	}
	return nil
}

// clears says whether the function, or a literal in it, stores anything else in the field:
// then the slice may be gone from there before the release.
func (b *body) clears(store *ssa.Store) bool {
	for _, f := range withLiterals(nil, b.fn) {
		for _, block := range f.Blocks {
			for _, instr := range block.Instrs {
				s, ok := instr.(*ssa.Store)
				if ok && s != store && sameField(s.Addr, store.Addr) {
					return true
				}
			}
		}
	}
	return false
}

func sameField(a, b ssa.Value) bool {
	x, ok := a.(*ssa.FieldAddr)
	y, both := b.(*ssa.FieldAddr)
	if !ok || !both {
		return a == b
	}
	return x.Field == y.Field && types.Identical(x.X.Type(), y.X.Type())
}
