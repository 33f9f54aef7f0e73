package vet

import (
	"fmt"

	"golang.org/x/tools/go/ssa"
)

// leaks reports calls whose result no path releases or passes on, and those whose error
// nobody looks at. Tests may do so: their pools end with them, and a buffer that is not
// there fails them.
func (b *body) leaks() {
	if b.c.inTest(b.fn) {
		return
	}
	for _, block := range b.fn.Blocks {
		for _, instr := range block.Instrs {
			if call, ok := instr.(*ssa.Call); ok {
				if k := b.acquired(call); k != nil && k.owned {
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
	case len(*instr.Referrers()) == 0:
		b.report(fmt.Sprint("dropped ", instr.Pos()), instr, "result of %s is dropped", name)
		return
	case got == nil || len(*got.Referrers()) == 0:
		return // the error is what the program wants to see
	}
	f := b.fateOf(got)
	if !f.released && !f.passed && !f.returned {
		b.report(fmt.Sprint("leak ", instr.Pos()), instr, "%s of %s is never released, returned or passed on", k.noun,
			name)
		return
	}
	if f.used && errorIndex(instr) > 0 && !b.looksAt(errorOf(instr)) {
		b.report(fmt.Sprint("error ", instr.Pos()), instr, "error of %s is ignored, and the %s is used", name, k.noun)
	}
}

// looksAt says whether anything is done with an error.
func (b *body) looksAt(err ssa.Value) bool { return err != nil && len(*err.Referrers()) > 0 }
