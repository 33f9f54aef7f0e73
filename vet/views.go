package vet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// findViews notes the owner of each view that the function takes.
func (b *body) findViews() {
	for _, block := range b.fn.Blocks {
		for _, instr := range block.Instrs {
			switch instr := instr.(type) {
			case *ssa.Call:
				b.viewOfCall(instr)
			case *ssa.UnOp:
				b.viewOfField(instr)
			}
		}
	}
}

func (b *body) viewOfCall(instr *ssa.Call) {
	call := b.call(instr)
	if !call.is(show) || call.subject() == nil || b.emptied(call.subject()) {
		return
	}
	if shown := first(instr); shown != nil {
		b.owners[shown] = b.base(call.subject())
	}
}

// viewOfField is for the slice in a ByteBuffer, which programs use as it is.
func (b *body) viewOfField(load *ssa.UnOp) {
	field, ok := load.X.(*ssa.FieldAddr)
	if ok && load.Op == token.MUL && isByteBuffer(field) && !b.replaced(field) {
		b.owners[load] = b.base(field.X)
	}
}

func isByteBuffer(f *ssa.FieldAddr) bool {
	n, ok := types.Unalias(f.X.Type().Underlying().(*types.Pointer).Elem()).(*types.Named)
	return ok && n.Obj().Name() == "ByteBuffer" && n.Obj().Pkg() != nil && unvendored(n.Obj().Pkg().Path()) == valyala
}

// replaced says whether the function gives the field a slice that was not there: then what
// was there is not the pool's any more.
func (b *body) replaced(field *ssa.FieldAddr) bool {
	for _, block := range b.fn.Blocks {
		for _, instr := range block.Instrs {
			s, ok := instr.(*ssa.Store)
			if !ok {
				continue
			}
			to, ok := s.Addr.(*ssa.FieldAddr)
			if ok && to.Field == field.Field && b.base(to.X) == b.base(field.X) && !isAppend(s.Val) {
				return true
			}
		}
	}
	return false
}

func isAppend(v ssa.Value) bool {
	if c, ok := v.(*ssa.Call); ok {
		builtin, ok := c.Call.Value.(*ssa.Builtin)
		return ok && builtin.Name() == "append"
	}
	_, ok := v.(*ssa.Slice)
	return ok
}

// emptied says whether the function may overwrite a whole object before it ends, as in
// *b = bytes.Buffer{}: its slices are the caller's own then. Of one in a field nothing is
// known, as those that release the struct may do so.
func (b *body) emptied(object ssa.Value) bool {
	if field, ok := object.(*ssa.FieldAddr); ok && !embedded(field) {
		return true
	}
	for _, f := range withLiterals(nil, b.fn) {
		for _, block := range f.Blocks {
			for _, instr := range block.Instrs {
				s, ok := instr.(*ssa.Store)
				if ok && types.Identical(s.Addr.Type(), object.Type()) {
					return true
				}
			}
		}
	}
	return false
}

// embedded says whether a field has no name of its own.
func embedded(f *ssa.FieldAddr) bool {
	pointer := f.X.Type().Underlying().(*types.Pointer)
	s, ok := pointer.Elem().Underlying().(*types.Struct)
	return ok && s.Field(f.Field).Embedded()
}

// shows says whether a view is of an owner, or of a view of it.
func (b *body) shows(view, owner ssa.Value) bool {
	for v, ok := b.owners[view]; ok; v, ok = b.owners[v] {
		if v == owner {
			return true
		}
	}
	return false
}
