package vet

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// libraries are packages whose functions keep a Buffer or a Body that they are given only in their result, as a
// json.Encoder has what it writes to.
var libraries = []string{"bufio", "compress/flate", "compress/gzip", "compress/zlib", "encoding/binary", "encoding/csv",
	"encoding/gob", "encoding/json", "encoding/xml", "fmt", "html/template", "io", "text/template"}

// borrowed says whether a call is one of a library, with memory of bufslab or with what a library made of it, and
// follows what it makes.
func (t *tracer) borrowed(call *call, v ssa.Value) bool {
	f := call.instr.Common().StaticCallee()

	if _, isGo := call.instr.(*ssa.Go); isGo || f == nil || f.Object() == nil || f.Object().Pkg() == nil ||
		!slices.Contains(libraries, f.Object().Pkg().Path()) {
		return false
	}
	base := t.c.body(call.instr.Parent()).base(v)
	if p, ok := base.Type().Underlying().(*types.Pointer); !t.wrappers[base] && !(ok && ofBufslab(p.Elem())) {
		return false
	}
	t.fate.used = true
	if out, ok := call.instr.(*ssa.Call); ok {
		t.wrapped(out)
	}
	return true
}

// wrapped follows the result of a call, which may have the memory.
func (t *tracer) wrapped(out *ssa.Call) {
	wrapper := first(out)
	if wrapper == nil || isError(wrapper.Type()) {
		return
	}
	switch wrapper.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface:
		t.wrappers[out], t.wrappers[wrapper] = true, true
		t.follow(wrapper)
	}
}
