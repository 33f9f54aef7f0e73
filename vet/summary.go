package vet

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// rounds is how often functions are looked at for what others of the package do: calls of
// calls that are deeper than that are not known.
const rounds = 4

// summarize finds out what the functions do with their arguments and results.
func (c *checker) summarize(functions []*ssa.Function) {
	for range rounds {
		changed := false
		for _, f := range slices.Backward(functions) {
			l := c.body(f).life()
			if old := c.lives[f]; old == nil && !l.empty() || old != nil && !old.equal(l) {
				c.lives[f] = l
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// life summarizes a function.
func (b *body) life() *life {
	l := &life{Owned: b.owned()}
	for i, v := range b.arguments() {
		if k := b.releasesAlways(v); k != nil {
			l.ends(i, k.noun)
		} else if b.mayMatter(v) {
			if f := b.fateOf(v); !f.released && !f.passed && !f.returned && !f.retained {
				l.Borrows = append(l.Borrows, i)
			}
		}
	}
	return l
}

// arguments are the parameters, and behind them the variables that a literal captures.
func (b *body) arguments() (all []ssa.Value) {
	for _, p := range b.fn.Params {
		all = append(all, p)
	}
	for _, v := range b.fn.FreeVars {
		all = append(all, v)
	}
	return all
}

// mayMatter says whether a parameter may be memory of a kind that has to be released.
func (b *body) mayMatter(v ssa.Value) bool {
	if _, ok := v.(*ssa.Parameter); !ok {
		return false
	}
	if s, ok := v.Type().Underlying().(*types.Slice); ok {
		return types.Identical(s.Elem(), types.Typ[types.Byte])
	}
	t := v.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return ofBufslab(t) && typeName(t) != "Pool"
}

// owned returns the kind of the first result if each return gives the caller something new
// that it owns, or nothing.
func (b *body) owned() string {
	var one *kind
	for _, block := range b.fn.Blocks {
		ret, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		if len(ret.Results) == 0 {
			return ""
		}
		base := b.base(ret.Results[0])
		if isZero(base) {
			continue
		}
		k := b.newAndOwned(base)
		if k == nil || one != nil && k != one {
			return ""
		}
		one = k
	}
	if one == nil {
		return ""
	}
	return one.noun
}

// newAndOwned returns the kind of a value that was got here, and that goes to the caller alone.
func (b *body) newAndOwned(base ssa.Value) *kind {
	instr, ok := resultOf(base)
	if !ok {
		return nil
	}
	k := b.acquired(instr)
	if k == nil {
		return nil
	}
	if f := b.fateOf(base); f.passed || f.retained {
		return nil
	}
	return k
}

func isZero(v ssa.Value) bool {
	_, ok := v.(*ssa.Const)
	return ok
}
