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
	ends ends
	// paths: what a path forgets is asked for. Then what is shown of the value, or made of it by
	// a call, is noted beside it.
	paths bool
	// outlived: a literal that may run when the function has returned keeps what it captures.
	outlived bool
	parts    []ssa.Value        // what was shown of it, or read from it
	made     []ssa.Value        // the results of calls that had it
	wrappers map[ssa.Value]bool // what libraries made of it
}

func newTracer(c *checker) *tracer {
	return &tracer{c: c, seen: map[ssa.Value]bool{}, ends: ends{}, wrappers: map[ssa.Value]bool{}}
}

// fateOf follows a value of the function.
func (b *body) fateOf(v ssa.Value) fate {
	t := newTracer(b.c)
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
func (b *body) makes(instr *ssa.Call, k *kind) bool { return b.acquired(instr) == k }

// acquired returns the kind of what the caller of a function owns afterwards, or nil.
func (b *body) acquired(instr *ssa.Call) *kind {
	call := b.call(instr)
	if call.is(acquire, part, grow, detach) {
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
		t.note(r, func() { t.done(r, v) })
	}
}

// done looks at an instruction that has a value as an operand.
func (t *tracer) done(instr ssa.Instruction, v ssa.Value) {
	switch instr := instr.(type) {
	case *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Slice, *ssa.SliceToArrayPointer,
		*ssa.Phi, *ssa.TypeAssert:
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
	_, outside := instr.Addr.(*ssa.FreeVar) // of a function that goes on with it
	if outside || t.c.body(instr.Parent()).cell(instr.Addr) == nil {
		t.fate.passed = true
		return
	}
	t.followCell(instr.Addr)
	for _, r := range *instr.Addr.Referrers() {
		if f, ok := t.ends[r]; ok && isBefore(r, instr) {
			t.ends[instr] = t.ends[instr].or(f) // a literal that was there before has it from now on
		}
	}
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
			if cell := t.c.body(r.Parent()).cell(address); cell == nil || !isZero(cell.valueAt(r)) {
				t.follow(r)
			}
		case *ssa.MakeClosure:
			t.note(r, func() { t.captured(r, address) })
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
	t.fate.passed = t.fate.passed || t.outlived && outlives(closure)
	for i, binding := range closure.Bindings {
		if binding == v {
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
	} else if t.paths && leads(instr.Type()) {
		t.parts = append(t.parts, instr)
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
		t.note(r, func() { t.atAddress(r, address) })
	}
}

func (t *tracer) atAddress(instr ssa.Instruction, address ssa.Value) {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		t.loaded(instr, address)
	case *ssa.Store:
		if instr.Val == address {
			t.fate.passed = true
		}
	case *ssa.DebugRef:
	case *ssa.FieldAddr, *ssa.IndexAddr:
		t.followAddress(instr.(ssa.Value))
	default:
		t.fate.passed = true
	}
}
