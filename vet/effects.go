package vet

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// An end says how the life of a value ended.
type end struct {
	at   ssa.Instruction
	how  string // the function that ended it
	kind *kind  // of the value, view of one that showed what ended
	// unless is an error: where it is not nil nothing has ended. nil for always.
	unless ssa.Value
	of     *kind // what ended, for a view the memory that it shows
	// wrapped: not a function of the table ended it, but one that calls such a function.
	wrapped bool
}

// An effect is an end that a call brings about, of one base.
type effect struct {
	base ssa.Value
	end  end
	// viewsOnly: the base itself can be used on.
	viewsOnly bool
}

// effects lists what a call ends.
func (b *body) effects(call *call, at ssa.Instruction) []effect {
	if call.rule != nil {
		return b.ruled(call, at)
	}
	if call.life == nil {
		return nil
	}
	var all []effect
	for i, k := range call.life.releases() {
		if base := b.base(b.argument(call, i, at)); lives(base) {
			all = append(all, effect{base, end{at: at, how: call.name(), kind: k, of: k, wrapped: true}, k.reusable})
		}
	}
	return all
}

// argument returns the argument of a number; those after the last are the variables of a
// function literal.
func (b *body) argument(call *call, i int, at ssa.Instruction) ssa.Value {
	if i < len(call.args) {
		return call.args[i]
	}
	if i -= len(call.args); call.literal == nil || i >= len(call.literal.Bindings) {
		return nil
	}
	binding := call.literal.Bindings[i]
	if cell := b.cell(binding); cell != nil && !cell.outside {
		return cell.valueAt(at)
	}
	return binding
}

// ruled lists what a call ends by the table.
func (b *body) ruled(call *call, at ssa.Instruction) []effect {
	r := call.rule
	if !call.is(release, reset, grow) || call.subject() == nil {
		return nil
	}
	base := b.base(call.subject())
	if !lives(base) || r.kind == pooled && !isReference(call.subject()) || asks(call) || r.kind.counted &&
		!b.hasTheOne(base) {
		return nil
	}
	e := effect{base, end{at: at, how: call.name(), kind: r.kind, of: r.kind}, r.op == reset || r.kind.reusable}
	if err := b.refusal(call); err != nil {
		e.end.unless = b.base(err)
	}
	return []effect{e}
}

// isReference says whether a value leads to memory: of a struct a pool gets a copy.
func isReference(v ssa.Value) bool {
	if made, ok := v.(*ssa.MakeInterface); ok {
		v = made.X
	}
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	}
	return false
}

// refusal returns the error of a Grow or a Put, after which nothing has ended.
func (b *body) refusal(call *call) ssa.Value {
	v, ok := call.instr.(*ssa.Call)
	if !ok {
		return nil
	}
	if call.is(grow) {
		return errorOf(v)
	}
	if call.rule.kind == bytes && answers(v) {
		return v
	}
	return nil
}

// asks says whether a program looks for a certain error of a release: it asks whether the
// buffer was released before.
func asks(call *call) bool {
	v, ok := call.instr.(*ssa.Call)
	if !ok || !call.is(release, grow) {
		return false
	}
	err := ssa.Value(v)
	if call.is(grow) {
		err = errorOf(v)
	}
	return err != nil && reachesIs(err, map[ssa.Value]bool{})
}

// reachesIs says whether an error is given to errors.Is.
func reachesIs(err ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[err] || err.Referrers() == nil {
		return false
	}
	seen[err] = true
	for _, r := range *err.Referrers() {
		switch r := r.(type) {
		case *ssa.Call:
			if f := r.Call.StaticCallee(); f != nil && f.Name() == "Is" {
				return true
			}
		case *ssa.Phi:
			if reachesIs(r, seen) {
				return true
			}
		}
	}
	return false
}
