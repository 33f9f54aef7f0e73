package vet

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// called looks at a call of which a value is an argument.
func (t *tracer) called(instr ssa.CallInstruction, v ssa.Value) {
	body := t.c.body(instr.Parent())
	call := body.call(instr)
	switch {
	case call.rule != nil && call.subject() == v:
		t.ruled(call)
	case isBuiltin(call):
		t.fate.used = true
		t.fate.passed = t.fate.passed || call.instr.Common().Value.Name() == "SliceData" // nobody follows a pointer
		if out, ok := instr.(*ssa.Call); ok && len(call.args) > 0 && call.args[0] == v && isSlice(out) {
			t.follow(out) // append
		}
	case t.borrowed(call, v):
	case borrowsByName(call):
		t.fate.used = true
	case call.life == nil:
		t.pass(call)
	default:
		t.toKnown(call, v)
	}
}

// ruled looks at a call of a function of the table on the value.
func (t *tracer) ruled(call *call) {
	switch call.rule.op {
	case release, grow, detach:
		t.fate.released = true
	case retain:
		t.fate.retained = true
	case show:
		t.fate.used = true
		v, ok := call.instr.(ssa.Value)
		if ok && t.paths {
			t.parts = append(t.parts, first(v))
		} else if ok && t.escapes(first(v)) {
			t.fate.passed = true // the bytes may lead to the buffer, as by Lookup
		}
	case acquire:
		if call.rule.recv == "" {
			t.pass(call) // it makes something of the value
			return
		}
		t.fate.used = true
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
	inner := newTracer(t.c)
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
		} else if _, isGo := call.instr.(*ssa.Go); call.life.borrows(i) && !(isGo && t.outlived) {
			t.fate.used = true
		} else {
			t.pass(call)
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
