package vet

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// ends says of each instruction that does anything with a value what that is.
type ends map[ssa.Instruction]fate

// note lets look see what an instruction does, and notes it. Of one that makes another name
// of the value, what is done with that name counts.
func (t *tracer) note(instr ssa.Instruction, look func()) {
	before := t.fate
	t.fate = fate{}
	look()
	if t.fate.goes() && !t.makesName(instr) {
		t.ends[instr] = t.ends[instr].or(t.fate)
	}
	t.fate = t.fate.or(before)
}

// goes says whether the value may not be the function's any more.
func (f fate) goes() bool { return f.released || f.returned || f.retained || f.passed }

func (f fate) or(g fate) fate {
	return fate{f.released || g.released, f.returned || g.returned, f.retained || g.retained, f.passed || g.passed,
		f.used || g.used}
}

func (t *tracer) makesName(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Store:
		_, outside := instr.Addr.(*ssa.FreeVar)
		return !outside && t.c.body(instr.Parent()).cell(instr.Addr) != nil
	case *ssa.Call:
		return isAppend(instr) || t.wrappers[instr]
	case *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Slice, *ssa.SliceToArrayPointer, *ssa.Phi,
		*ssa.TypeAssert, *ssa.Extract, *ssa.UnOp, *ssa.FieldAddr, *ssa.IndexAddr:
		return true
	}
	return false
}

// pass hands the value to a call of which nothing is known. What comes back may have it.
func (t *tracer) pass(call *call) {
	t.fate.passed = true
	v, ok := call.instr.(*ssa.Call)
	if !ok || !t.paths {
		return
	}
	for i := range call.instr.Common().Signature().Results().Len() {
		if r := result(v, i); r != nil && leads(r.Type()) {
			t.made = append(t.made, r)
		}
	}
}

// leads says whether a value of a type may lead to other memory. An error is taken not to.
func leads(t types.Type) bool {
	_, isBasic := t.Underlying().(*types.Basic)
	return !isBasic && !isError(t)
}

// endsOn notes what ends a value on the paths of the function: calls made of it count, and so
// do parts of it which are kept, if they are all that one keeps of such a value.
func (b *body) endsOn(v ssa.Value, k *kind) (t *tracer, kept ends) {
	t = newTracer(b.c)
	t.paths = true
	for t.follow(v); len(t.made) > 0; {
		next := t.made[0]
		t.made = t.made[1:]
		t.follow(next)
	}
	kept = ends{}
	for _, part := range t.parts {
		inner := newTracer(b.c)
		inner.outlived = true
		inner.follow(part)
		for instr, f := range inner.ends {
			if call, isCall := instr.(*ssa.Call); !isArgument(instr) && (!isCall || closes(call)) {
				kept[instr] = kept[instr].or(f)
			}
		}
	}
	if !k.owned {
		for instr, f := range kept {
			t.ends[instr] = t.ends[instr].or(f)
		}
	}
	return t, kept
}

// closes says whether a call ends a part of a value, which then is of no use to others.
func closes(instr *ssa.Call) bool {
	c := call{instr: instr}
	return c.name() == "Close"
}

// isBefore says whether an instruction comes before another on every path to that.
func isBefore(a, b ssa.Instruction) bool {
	if a.Parent() != b.Parent() {
		return false
	}
	if a.Block() == b.Block() {
		return position(a) < position(b)
	}
	return a.Block().Dominates(b.Block())
}

// isArgument says whether an instruction puts a value into the list of arguments that the compiler makes for a call,
// of which nothing is kept when that returns: not with append, go and defer.
func isArgument(instr ssa.Instruction) bool {
	users, ok := listUsers(instr)
	return ok && !slices.ContainsFunc(users, func(user ssa.Instruction) bool {
		call, isCall := user.(*ssa.Call)
		return !isCall || isAppend(call)
	})
}

// listUsers returns what uses the list of arguments that an instruction puts a value into, and whether it does that.
func listUsers(instr ssa.Instruction) (users []ssa.Instruction, ok bool) {
	store, ok := instr.(*ssa.Store)
	if !ok {
		return nil, false
	}
	element, ok := store.Addr.(*ssa.IndexAddr)
	if !ok {
		return nil, false
	}
	list, ok := element.X.(*ssa.Alloc)
	if !ok || list.Comment != "varargs" {
		return nil, false
	}
	for _, r := range *list.Referrers() {
		if whole, ok := r.(*ssa.Slice); ok {
			users = append(users, *whole.Referrers()...)
		}
	}
	return users, true
}
