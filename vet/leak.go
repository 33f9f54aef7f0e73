package vet

import (
	"fmt"

	"golang.org/x/tools/go/ssa"
)

// leaks reports calls whose result a path forgets, and those whose error nobody looks at. Tests
// may do so: their pools end with them, and a buffer that is not there fails them.
func (b *body) leaks() {
	if b.c.inTest(b.fn) {
		return
	}
	for _, block := range b.fn.Blocks {
		for _, instr := range block.Instrs {
			if call, ok := instr.(*ssa.Call); ok {
				if k := b.acquired(call); k != nil {
					b.leak(call, k)
				}
			}
		}
	}
}

func (b *body) leak(instr *ssa.Call, k *kind) {
	name := b.call(instr).name()
	got := first(instr)
	switch {
	case k.owned && len(*instr.Referrers()) == 0:
		b.report(fmt.Sprint("dropped ", instr.Pos()), instr, "result of %s is dropped, and can never be released: keep it, and defer its %s", name,
			k.ends)
		return
	case (got == nil || len(*got.Referrers()) == 0) && b.call(instr).is(grow) && !asks(b.call(instr)):
		b.report(fmt.Sprint("dropped ", instr.Pos()), instr, "result of Grow is dropped, and the handle that it replaces "+
			"is stale: keep the one that Grow returns")
		return
	case got == nil || len(*got.Referrers()) == 0:
		return // the error is what the program wants to see
	case k == bytes && b.outgrown(got):
		return
	}
	if k.owned && b.deferredInLoop(instr, k) {
		return
	}
	b.forgets(instr, k)
	if k.owned && errorIndex(instr) > 0 && !b.looksAt(errorOf(instr)) && b.fateOf(got).used {
		b.report(fmt.Sprint("error ", instr.Pos()), instr, "error of %s is ignored, and the %s is used: "+
			"after an error there is none", name, k.noun)
	}
}

// looksAt says whether anything is done with an error.
func (b *body) looksAt(err ssa.Value) bool { return err != nil && len(*err.Referrers()) > 0 }

// outgrown reports an append to a whole slice of GetBytes, where that is then forgotten: its
// capacity is its length, so that append makes a slice which is none of the pool's.
func (b *body) outgrown(got ssa.Value) bool {
	for _, r := range *got.Referrers() {
		call, ok := r.(*ssa.Call)
		if !ok || !isAppend(call) || call.Call.Args[0] != got || isEmpty(call.Call.Args[1]) {
			continue
		}
		t := newTracer(b.c)
		t.seen[call] = true
		if t.follow(got); !t.fate.goes() {
			b.report(fmt.Sprint("outgrown ", r.Pos()), r, "append outgrows the slice of GetBytes, whose capacity is its "+
				"length, and the pool does not get that back: append to b[:0], or get more")
			return true
		}
	}
	return false
}

// isEmpty says whether a value is nil or "".
func isEmpty(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && (isNil(c) || textOf(c) == `""`)
}
