package vet

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// learn adds to a path what a condition says there. It returns false if the path has no such
// way on: what is known says something else, or it is a condition that is left open, or whether the value is
// too large to go back.
func (w *walk) learn(p *way, cond ssa.Value, yes bool) bool {
	for {
		not, ok := cond.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			break
		}
		cond, yes = not.X, !yes
	}
	cond = w.resolve(p.phis, cond)
	if c, ok := cond.(*ssa.Const); ok {
		return (textOf(c) == "true") == yes
	}
	if w.b.cell(cond) != nil {
		return true // a variable, of which no one value is known
	}
	f, equal := w.fact(p, cond)
	if w.open[f.v] && f.is == "" || !w.kind.owned && w.asksForSize(p, cond) {
		return false
	}
	if is, sure := w.answer(p, f, cond); sure {
		return is == (yes == equal)
	}
	p.known[f] = yes == equal
	if c, ok := cond.(*ssa.BinOp); ok && yes == (c.Op == token.EQL) && isError(c.X.Type()) && f.is == "" {
		f = fact{w.resolve(p.phis, c.X), null} // it is a certain error
		p.known[f], yes, equal = false, false, true
	}
	return w.decides(p, f, yes == equal)
}

// asksForSize says whether a condition is about the size of the value, which may be what a Phi is.
func (w *walk) asksForSize(p *way, cond ssa.Value) bool {
	for phi := range p.phis {
		if w.resolve(p.phis, phi) == w.got && w.b.asksForSize(cond, phi) {
			return true
		}
	}
	return w.b.asksForSize(cond, w.got)
}

// decides says whether a path goes on where a fact holds or not: not if somebody else has the
// value then.
func (w *walk) decides(p *way, f fact, yes bool) bool {
	if f != p.unless {
		return true
	}
	p.unless = fact{}
	return !yes
}

// fact returns what a condition asks for, and whether it is so if the condition is true.
func (w *walk) fact(p *way, cond ssa.Value) (f fact, equal bool) {
	c, ok := cond.(*ssa.BinOp)
	if !ok {
		root, path := w.place(cond)
		return fact{root, path}, true
	}
	x, y := w.resolve(p.phis, c.X), w.resolve(p.phis, c.Y)
	if c.Op != token.EQL && c.Op != token.NEQ {
		return w.ordered(c, x, y)
	}
	if isZero(x) {
		x, y = y, x
	}
	k, ok := y.(*ssa.Const)
	if !ok || w.b.cell(x) != nil {
		return w.ordered(c, x, y)
	}
	if root, path := w.place(x); path != "" {
		return fact{root, path + "==" + textOf(k)}, c.Op == token.EQL
	}
	return fact{x, textOf(k)}, c.Op == token.EQL
}

// textOf is a constant as facts have it.
func textOf(c *ssa.Const) string {
	if c.Value == nil {
		return null
	}
	return c.Value.ExactString()
}

// answer returns whether a fact holds, and whether that is sure.
func (w *walk) answer(p *way, f fact, cond ssa.Value) (is, sure bool) {
	if is, sure = p.known[f]; sure {
		return is, true
	}
	if k, ok := f.v.(*ssa.Const); ok {
		return textOf(k) == f.is, true
	}
	if f.is == null {
		return false, f.v == w.got || isNew(f.v)
	}
	if e, ok := cond.(*ssa.Extract); ok {
		assert, ok := e.Tuple.(*ssa.TypeAssert)
		return true, ok && w.resolve(p.phis, assert.X) == w.got
	}
	c, ok := cond.(*ssa.BinOp)
	return ok && c.Op == token.NEQ, w.aboutNil(p, cond)
}

// aboutNil says whether a condition is that an error is a certain one, which is nil.
func (w *walk) aboutNil(p *way, cond ssa.Value) bool {
	var all []ssa.Value
	switch c := cond.(type) {
	case *ssa.BinOp:
		all = []ssa.Value{c.X, c.Y}
	case *ssa.Call:
		if f := c.Call.StaticCallee(); f != nil && (f.Name() == "Is" || f.Name() == "As") {
			all = c.Call.Args
		}
	}
	for _, v := range all {
		if isError(v.Type()) && p.known[fact{w.resolve(p.phis, v), null}] {
			return true
		}
	}
	return false
}

// isNew says whether a value was made there, so that it is not nil.
func isNew(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.MakeSlice, *ssa.MakeMap, *ssa.MakeChan, *ssa.MakeClosure, *ssa.Function:
		return true
	case *ssa.Call:
		f := v.Call.StaticCallee()
		return f != nil && f.Pkg != nil && (f.String() == "errors.New" || f.String() == "fmt.Errorf")
	}
	return false
}
