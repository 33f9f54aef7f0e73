package vet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A body is a function, with what was found out about its values.
//
// The base of a value is the value that it is another name of: a conversion, an address
// within it, a part of a slice, a variable that holds it. A view has a base of its own,
// and that of the memory that it shows is its owner.
type body struct {
	c      *checker
	fn     *ssa.Function
	bases  map[ssa.Value]ssa.Value
	cells  map[ssa.Value]*cell
	owners map[ssa.Value]ssa.Value // of views
	calls  map[ssa.CallInstruction]*call

	changing map[*ssa.FieldAddr]bool // whether the function may see a field change
}

func newBody(c *checker, f *ssa.Function) *body {
	b := &body{
		c: c, fn: f,
		bases:  map[ssa.Value]ssa.Value{},
		cells:  map[ssa.Value]*cell{},
		owners: map[ssa.Value]ssa.Value{},
		calls:  map[ssa.CallInstruction]*call{},

		changing: map[*ssa.FieldAddr]bool{},
	}
	b.findViews()
	return b
}

// call describes the call of an instruction.
func (b *body) call(instr ssa.CallInstruction) *call {
	if known := b.calls[instr]; known != nil && known.rule != nil {
		return known
	}
	made := b.c.call(instr) // again where lives may have changed
	b.calls[instr] = &made
	return &made
}

// base returns what a value is another name of, itself where it is none.
func (b *body) base(v ssa.Value) ssa.Value {
	next, known := b.bases[v]
	if !known {
		b.bases[v] = v // for those that lead back here
		next = b.step(v)
		b.bases[v] = next
	}
	if next == v {
		return v
	}
	return b.base(next)
}

// step returns a value of which v is another name, one step nearer to the base.
func (b *body) step(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return v.X
	case *ssa.ChangeInterface:
		return v.X
	case *ssa.MakeInterface:
		return v.X
	case *ssa.SliceToArrayPointer:
		return v.X
	case *ssa.FieldAddr:
		return v.X
	case *ssa.IndexAddr:
		return v.X
	case *ssa.Slice:
		return v.X
	case *ssa.TypeAssert:
		if !v.CommaOk {
			return v.X
		}
	case *ssa.Extract:
		if assert, ok := v.Tuple.(*ssa.TypeAssert); ok && v.Index == 0 {
			return assert.X
		}
	case *ssa.Phi:
		return b.stepPhi(v)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return b.stepLoad(v)
		}
	}
	return v
}

// stepPhi returns the one base of all that meet here. nil is another: it has not ended.
func (b *body) stepPhi(phi *ssa.Phi) ssa.Value {
	var one ssa.Value
	for _, edge := range phi.Edges {
		base := b.base(edge)
		if base == phi || base == one {
			continue
		}
		if one != nil {
			return phi
		}
		one = base
	}
	if one == nil {
		return phi
	}
	return one
}

// stepLoad returns what a load gives: the value of a variable, the slice that a pooled
// pointer leads to, what is embedded in a handle of bufslab, or what an earlier load of the
// same field gave.
func (b *body) stepLoad(load *ssa.UnOp) ssa.Value {
	if cell := b.cell(load.X); cell != nil {
		return cell.valueAt(load)
	}
	if pointsToSlice(load.X) && !b.repointed(load.X) {
		return load.X
	}
	if field, ok := load.X.(*ssa.FieldAddr); ok && isEmbedded(field) {
		return field.X
	}
	if earlier := b.sameBefore(load); earlier != nil {
		return earlier
	}
	return load
}

// pointsToSlice says whether a value is a pointer to a slice, and not to one in a struct.
func pointsToSlice(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Alloc, *ssa.Global, *ssa.FreeVar:
		return false
	}
	p, ok := v.Type().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = p.Elem().Underlying().(*types.Slice)
	return ok
}

// repointed says whether the function stores another slice where a pointer leads.
func (b *body) repointed(pointer ssa.Value) bool {
	for v := range b.names(pointer) {
		if v.Referrers() == nil {
			continue
		}
		for _, r := range *v.Referrers() {
			if s, ok := r.(*ssa.Store); ok && s.Addr == v {
				return true
			}
		}
	}
	return false
}

// names yields the values that are a pointer by another name: before and after conversions.
func (b *body) names(pointer ssa.Value) map[ssa.Value]bool {
	all := map[ssa.Value]bool{}
	for v := pointer; ; {
		all[v] = true
		assert, ok := v.(*ssa.TypeAssert)
		if !ok {
			return all
		}
		v = assert.X
	}
}

func isEmbedded(f *ssa.FieldAddr) bool {
	pointer, ok := f.X.Type().Underlying().(*types.Pointer)
	return ok && ofBufslab(pointer.Elem()) && embedded(f)
}

func ofBufslab(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && fits(bufslab+"*", unvendored(n.Obj().Pkg().Path()))
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}

// lives says whether a value is memory at all: constants and functions are none.
func lives(v ssa.Value) bool {
	switch v.(type) {
	case nil, *ssa.Const, *ssa.Function, *ssa.Builtin, *ssa.Global:
		return false
	}
	return true
}
