package vet

import (
	"go/types"
	"path"
	"strings"
)

// rule returns the rule of a function, nil if there is none.
func (c *checker) rule(f *types.Func) *rule {
	f = f.Origin()
	if r, known := c.rules[f]; known {
		return r
	}
	r := find(f)
	c.rules[f] = r
	return r
}

func find(f *types.Func) *rule {
	if f.Pkg() == nil {
		return nil
	}
	pkg, recv := unvendored(f.Pkg().Path()), receiver(f)
	for i := range rules {
		r := &rules[i]
		if fits(r.pkg, pkg) && (r.recv == "") == (recv == "") && fits(r.recv, recv) && fits(r.name, f.Name()) &&
			r.concerns(f) {
			return r
		}
	}
	return nil
}

// concerns leaves out functions whose names fit and whose types do not: of counted memory
// those whose results or receivers have no count.
func (r *rule) concerns(f *types.Func) bool {
	signature := f.Signature()
	switch {
	case r.op == acquire && r.kind.counted:
		return signature.Results().Len() > 0 && counted(signature.Results().At(0).Type())
	case r.kind.counted && r.recv == "*":
		return counted(signature.Recv().Type())
	}
	return true
}

// counted says whether a type has a method that gives a reference back.
func counted(t types.Type) bool {
	for _, name := range []string{"Release", "Free"} {
		if object, _, _ := types.LookupFieldOrMethod(t, true, nil, name); object != nil {
			if f, isMethod := object.(*types.Func); isMethod && f.Signature().Params().Len() == 0 { // else an allocator
				return true
			}
		}
	}
	return false
}

func fits(pattern, name string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == name
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// unvendored returns the path of a package as its own module has it.
func unvendored(pkg string) string {
	if i := strings.LastIndex(pkg, "/vendor/"); i >= 0 {
		return pkg[i+len("/vendor/"):]
	}
	return pkg
}

// receiver returns the name of the type that has a method, "" of a function.
func receiver(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	return typeName(recv.Type())
}

// typeName returns the name of a type or of what it points to. A type without one has a
// name that no rule has.
func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return "?"
}
