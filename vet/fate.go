package vet

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A fate says what a function does with a value, on any path.
type fate struct {
	released bool
	returned bool
	retained bool
	passed   bool // to code that may keep or release it
	used     bool
}

// A tracer follows a value and its other names through a function and its literals.
type tracer struct {
	c    *checker
	fate fate
	seen map[ssa.Value]bool
}

// fateOf follows a value of the function.
func (b *body) fateOf(v ssa.Value) fate {
	t := &tracer{c: b.c, seen: map[ssa.Value]bool{}}
	t.follow(v)
	return t.fate
}

// hasTheOne says whether the function made counted memory, and alone has a reference to it.
func (b *body) hasTheOne(base ssa.Value) bool {
	made, ok := resultOf(base)
	if !ok || !b.makes(made, refcount) {
		return false
	}
	f := b.fateOf(base)
	return !f.passed && !f.retained && !f.returned
}

// makes says whether the caller owns the first result of a call, as one of a kind.
func (b *body) makes(instr *ssa.Call, k *kind) bool {
	made := b.acquired(instr)
	return made != nil && made == k
}

// acquired returns the kind of what the caller of a function owns afterwards, or nil.
func (b *body) acquired(instr *ssa.Call) *kind {
	call := b.call(instr)
	if call.is(acquire, part, grow) {
		return call.rule.kind
	}
	if call.rule == nil && call.life != nil {
		return call.life.owned()
	}
	return nil
}

// follow goes through all that is done with a value.
func (t *tracer) follow(v ssa.Value) {
	if v == nil || t.seen[v] || v.Referrers() == nil {
		return
	}
	t.seen[v] = true
	for _, r := range *v.Referrers() {
		t.done(r, v)
	}
}

// done looks at an instruction that has a value as an operand.
func (t *tracer) done(instr ssa.Instruction, v ssa.Value) {
	switch instr := instr.(type) {
	case *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Slice, *ssa.SliceToArrayPointer, *ssa.Phi, *ssa.TypeAssert:
		t.follow(instr.(ssa.Value))
	case *ssa.Extract:
		if instr.Index == 0 {
			t.follow(instr)
		}
	case *ssa.Store:
		t.stored(instr, v)
	case *ssa.MakeClosure:
		t.captured(instr, v)
	case ssa.CallInstruction:
		t.called(instr, v)
	case *ssa.Return:
		t.fate.returned = true
	case *ssa.UnOp:
		t.loaded(instr, v)
	case *ssa.FieldAddr, *ssa.IndexAddr:
		t.fate.used = true
		t.followAddress(instr.(ssa.Value))
	case *ssa.BinOp, *ssa.DebugRef:
	case *ssa.Field, *ssa.Index, *ssa.Lookup, *ssa.Range, *ssa.Convert:
		t.fate.used = true
	default: // Send, Select, MapUpdate, Panic and the like
		t.fate.passed = true
	}
}

// stored follows a value to where its variable is read.
func (t *tracer) stored(instr *ssa.Store, v ssa.Value) {
	if instr.Addr == v {
		t.fate.used = true
		return
	}
	if t.c.body(instr.Parent()).cell(instr.Addr) == nil {
		t.fate.passed = true
		return
	}
	t.followCell(instr.Addr)
}

// followCell follows all that is read from a variable, also in literals.
func (t *tracer) followCell(address ssa.Value) {
	if t.seen[address] {
		return
	}
	t.seen[address] = true
	for _, r := range *address.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp:
			t.follow(r)
		case *ssa.MakeClosure:
			t.captured(r, address)
		}
	}
}

// captured follows a variable into a function literal, or a value into a method value.
func (t *tracer) captured(closure *ssa.MakeClosure, v ssa.Value) {
	f := closure.Fn.(*ssa.Function)
	if f.Parent() == nil {
		t.bound(closure, f)
		return
	}
	for i, binding := range closure.Bindings {
		if binding == v && i < len(f.FreeVars) {
			t.followCell(f.FreeVars[i])
		}
	}
}

// bound looks at a method value: one that is called at once, or deferred, is a call.
func (t *tracer) bound(closure *ssa.MakeClosure, f *ssa.Function) {
	object, _ := f.Object().(*types.Func)
	if object == nil {
		t.fate.passed = true
		return
	}
	if r := t.c.rule(object); r != nil && r.op == release {
		t.fate.released = true
		return
	}
	t.fate.passed = true
}

// loaded looks at what is read from a pointer: the memory, or a handle's embedded part.
func (t *tracer) loaded(instr *ssa.UnOp, v ssa.Value) {
	t.fate.used = true
	if instr.Op == token.MUL && t.c.body(instr.Parent()).base(instr) == t.c.body(instr.Parent()).base(v) {
		t.follow(instr)
	}
}

// followAddress follows the address of a part: writing there is a use, and handing it to
// somebody passes the whole on.
func (t *tracer) followAddress(address ssa.Value) {
	if t.seen[address] {
		return
	}
	t.seen[address] = true
	for _, r := range *address.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp:
			t.loaded(r, address)
		case *ssa.Store:
			if r.Val == address {
				t.fate.passed = true
			}
		case *ssa.DebugRef:
		case *ssa.FieldAddr, *ssa.IndexAddr:
			t.followAddress(r.(ssa.Value))
		default:
			t.fate.passed = true
		}
	}
}

// called looks at a call of which a value is an argument.
func (t *tracer) called(instr ssa.CallInstruction, v ssa.Value) {
	body := t.c.body(instr.Parent())
	call := body.call(instr)
	switch {
	case call.rule != nil && call.subject() == v:
		t.ruled(call)
	case isBuiltin(call):
		t.fate.used = true
		if out, ok := instr.(*ssa.Call); ok && len(call.args) > 0 && call.args[0] == v && isSlice(out) {
			t.follow(out) // append
		}
	case borrowsByName(call):
		t.fate.used = true
	case call.life == nil:
		t.fate.passed = true
	default:
		t.toKnown(call, v)
	}
}

// ruled looks at a call of a function of the table on the value.
func (t *tracer) ruled(call *call) {
	switch call.rule.op {
	case release, grow:
		t.fate.released = true
	case retain:
		t.fate.retained = true
	case show:
		t.fate.used = true
		if v, ok := call.instr.(ssa.Value); ok && t.escapes(first(v)) {
			t.fate.passed = true // the bytes may lead to the buffer, as by Lookup
		}
	default:
		t.fate.used = true
	}
}

// escapes says whether a view is stored somewhere, sent or returned. A call that has it as
// an argument does not count.
func (t *tracer) escapes(shown ssa.Value) bool {
	if shown == nil {
		return false
	}
	inner := &tracer{c: t.c, seen: map[ssa.Value]bool{}}
	inner.follow(shown)
	return inner.fate.returned || inner.fate.passed && !passedByCalls(inner)
}

// passedByCalls says whether calls are the only way by which values were passed on.
func passedByCalls(t *tracer) bool {
	for v := range t.seen {
		for _, r := range *v.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				if r.Val == v && t.c.body(r.Parent()).cell(r.Addr) == nil {
					return false
				}
			case *ssa.Send, *ssa.Select, *ssa.MapUpdate, *ssa.Go:
				return false
			}
		}
	}
	return true
}

// toKnown looks at a call of a function of which it is known what it does with arguments.
func (t *tracer) toKnown(call *call, v ssa.Value) {
	ends := call.life.releases()
	for i, arg := range call.args {
		if arg != v {
			continue
		}
		if _, ok := ends[i]; ok {
			t.fate.released = true
		} else if call.life.borrows(i) {
			t.fate.used = true
		} else {
			t.fate.passed = true
		}
	}
}

func isBuiltin(call *call) bool {
	_, ok := call.instr.Common().Value.(*ssa.Builtin)
	return ok
}

func isSlice(v ssa.Value) bool {
	_, ok := v.Type().Underlying().(*types.Slice)
	return ok
}

func isNumber(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// borrowsByName says whether a call is one of those of package io that read into a slice
// or write it, which do not keep it.
func borrowsByName(call *call) bool {
	switch call.name() {
	case "Read", "Write", "ReadAt", "WriteAt", "ReadFull", "ReadAtLeast":
	default:
		return false
	}
	results := call.instr.Common().Signature().Results()
	return results.Len() == 2 && isError(results.At(1).Type())
}
