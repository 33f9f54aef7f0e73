package vet

import "golang.org/x/tools/go/ssa"

// launch adds the views, and the views of buffers, that a goroutine's literal uses.
func (b *body) launch(instr *ssa.Go, add func(ssa.Value, string)) {
	closure, ok := instr.Call.Value.(*ssa.MakeClosure)
	if !ok || closure.Fn.(*ssa.Function).Parent() == nil {
		return
	}
	for _, binding := range closure.Bindings {
		cell := b.cell(binding)
		if cell == nil || cell.outside {
			continue
		}
		if v := cell.valueAt(instr); !b.isHandle(b.base(v)) || !cell.isReleased(closure) {
			add(v, launched)
		}
	}
}

// isHandle says whether a value is a buffer that the function got.
func (b *body) isHandle(base ssa.Value) bool {
	instr, ok := resultOf(base)
	return ok && b.makes(instr, handle)
}

// isReleased says whether a literal releases what is in the variable, or passes it on.
func (c *cell) isReleased(closure *ssa.MakeClosure) bool {
	t := newTracer(c.body.c)
	t.captured(closure, c.address)
	return t.fate.released || t.fate.passed
}

// outlives says whether a literal may run when the function has returned: that returns it, gives
// it to a goroutine or a channel, or stores it.
func outlives(literal *ssa.MakeClosure) bool {
	for _, r := range *literal.Referrers() {
		switch r.(type) {
		case *ssa.Return, *ssa.Go, *ssa.Send, *ssa.Store, *ssa.MapUpdate:
			return true
		}
	}
	return false
}
