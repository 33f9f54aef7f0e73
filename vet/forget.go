package vet

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A search looks for paths from a call, which got a value, to where the function forgets that.
type search struct {
	b     *body
	call  *ssa.Call
	got   ssa.Value
	kind  *kind
	ends  ends
	kept  ends // of slices of it
	takes map[ssa.Instruction]taking
	exits []string
	away  []ssa.Instruction // where a slice was given away on such a path
}

// forgets reports paths that forget a value, and slices that are kept on them. Of pools of others
// a value need not go back: where the package puts such values back it means to.
func (b *body) forgets(call *ssa.Call, k *kind) {
	got := first(call)
	t, kept := b.endsOn(got, k)
	switch {
	case k.owned && !t.fate.goes() && len(kept) == 0:
		b.report(fmt.Sprint("leak ", call.Pos()), call, "%s of %s is never released, returned or passed on: defer its %s%s",
			k.noun, b.call(call).name(), k.ends, behind(call))
		return
	case t.fate.retained || !b.canTell(call) || b.growsOthers(call),
		!k.owned && !t.fate.released && (k.counted || !b.c.putsBack(got)):
		return
	}
	s := &search{b: b, call: call, got: got, kind: k, ends: t.ends, kept: kept, takes: map[ssa.Instruction]taking{}}
	w := &walk{b: b, got: got, kind: k, visit: s.visit}
	w.from(call, s.begin(call, true))
	for _, at := range s.away {
		b.report(fmt.Sprint("kept ", at.Pos()), at, "slice of the %s is kept, and the %s is not: off the heap the next "+
			"collection takes its memory; keep the %s with it, or use GetBytes and Put", k.noun, k.noun, k.noun)
	}
	if len(s.exits) > 0 {
		b.report(fmt.Sprint("forgets ", call.Pos()), call, "%s of %s is not released on the way to %s: its %s belongs "+
			"there, too, or into a defer", k.noun, b.call(call).name(), named(s.exits), k.ends)
	}
}

// behind says where a defer belongs.
func behind(call *ssa.Call) string {
	if errorIndex(call) > 0 {
		return " behind the check of the error"
	}
	return ""
}

// named names the first of several exits.
func named(exits []string) string {
	if n := len(exits) - 3; n > 0 {
		return fmt.Sprint(strings.Join(exits[:3], ", "), " and ", n, " more")
	}
	return strings.Join(exits, " and ")
}

// begin returns the path behind a call that has worked, or has not.
func (s *search) begin(call *ssa.Call, works bool) *way {
	p := &way{phis: map[ssa.Value]ssa.Value{}, known: map[fact]bool{}}
	if err := lastError(call); err != nil {
		p.known[fact{s.b.base(err), null}] = works
	}
	for _, ok := range truths(call) {
		p.known[fact{v: ok}] = works
	}
	(&walk{b: s.b}).given(p, call.Block())
	return p
}

// canTell says whether the function looks at the error of a call, so that paths are known on
// which there is nothing to release, or returns the error and no more.
func (b *body) canTell(call *ssa.Call) bool {
	err := lastError(call)
	if err == nil {
		return errorIndex(call) < 0
	}
	returned := func(r ssa.Instruction) bool { _, ok := r.(*ssa.Return); return ok }
	if !slices.ContainsFunc(*err.Referrers(), func(r ssa.Instruction) bool { return !returned(r) }) {
		return true
	}
	for _, block := range b.fn.Blocks {
		for _, instr := range block.Instrs {
			if c, ok := instr.(*ssa.BinOp); ok {
				if v, _, isNil := comparedWithNil(c); isNil && b.base(v) == err {
					return true
				}
			}
		}
	}
	return false
}

// growsOthers says whether a call is Grow of a handle that another call gave, as Lookup does: who
// else has it is not known.
func (b *body) growsOthers(call *ssa.Call) bool {
	grows := b.call(call)
	if !grows.is(grow) {
		return false
	}
	from, ok := resultOf(b.base(grows.subject()))
	return ok && b.acquired(from) == nil
}

// lastError is the error that a call returns, alone or behind other results.
func lastError(call *ssa.Call) ssa.Value {
	if isError(call.Type()) {
		return call
	}
	return errorOf(call)
}

// truths are the results of a call that are true or false.
func truths(call *ssa.Call) (all []ssa.Value) {
	for i := range call.Call.Signature().Results().Len() {
		if v := result(call, i); v != nil && v.Type().String() == "bool" {
			all = append(all, v)
		}
	}
	return all
}

// visit looks at an instruction of a path, and says whether that goes on.
func (s *search) visit(instr ssa.Instruction, p *way) bool {
	if f := s.endAt(instr, p); f.goes() && !s.goesOn(instr, f, p) {
		return false
	}
	if s.kept[instr].goes() && s.kind.owned {
		p.kept = instr
	}
	switch instr := instr.(type) {
	case *ssa.Return:
		if p.cell == nil {
			s.exit(instr, p, "the return")
		}
		return false
	case *ssa.Panic:
		if s.kind.owned && isPanic(instr) && p.cell == nil {
			s.exit(instr, p, "the panic")
		}
		return false
	case *ssa.Call:
		if lost := p.cell == nil && !(&walk{b: s.b}).holds(p, s.got); instr == s.call && (lost || s.overwritten(p)) {
			s.exit(nil, p, "the next round of the loop")
		}
		return instr != s.call
	}
	return true
}

// isPanic says whether the program panics there by itself: not behind a call that ends it, nor
// where that cannot be.
func isPanic(instr *ssa.Panic) bool {
	made, ok := instr.X.(*ssa.MakeInterface)
	if !ok {
		return instr.Pos().IsValid()
	}
	c, ok := made.X.(*ssa.Const)
	return instr.Pos().IsValid() && !(ok && textOf(c) == `"noreturn"`)
}

// exit notes that a path forgets the value.
func (s *search) exit(at ssa.Instruction, p *way, what string) {
	if p.unless != (fact{}) {
		return
	}
	if p.kept != nil {
		if !slices.Contains(s.away, p.kept) {
			s.away = append(s.away, p.kept)
		}
		return
	}
	if at != nil && at.Pos().IsValid() {
		what += fmt.Sprint(" on line ", s.b.line(at))
	} else if at != nil {
		what = "the end of the function"
	}
	if !slices.Contains(s.exits, what) {
		s.exits = append(s.exits, what)
	}
}
