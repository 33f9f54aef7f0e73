package vet

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A call is a call as the analyzer sees it: a method's receiver is argument 0, also where
// it is called by an interface or was bound earlier.
type call struct {
	instr ssa.CallInstruction
	rule  *rule
	life  *life // what else is known of the function, nil if nothing is
	args  []ssa.Value
	// literal is the function literal that is called, whose cells are bound.
	literal *ssa.MakeClosure
}

// call describes the call that an instruction makes.
func (c *checker) call(instr ssa.CallInstruction) call {
	common := instr.Common()
	if common.IsInvoke() {
		args := append([]ssa.Value{common.Value}, common.Args...)
		return call{instr: instr, rule: c.rule(common.Method), args: args}
	}
	out := call{instr: instr, args: common.Args}
	f := common.StaticCallee()
	if f == nil {
		return out
	}
	if closure, ok := common.Value.(*ssa.MakeClosure); ok {
		if f.Parent() != nil {
			out.literal = closure
		} else { // a method value
			out.args = append(append([]ssa.Value{}, closure.Bindings...), common.Args...)
		}
	}
	if object, ok := f.Object().(*types.Func); ok {
		out.rule = c.rule(object)
	}
	if out.rule == nil {
		out.life = c.lifeOf(f)
	}
	return out
}

// subject is the argument that the rule is about, nil if there is none.
func (c *call) subject() ssa.Value {
	if c.rule == nil || c.rule.arg >= len(c.args) {
		return nil
	}
	return c.args[c.rule.arg]
}

// is says whether the function of the call has one of these parts.
func (c *call) is(ops ...op) bool {
	if c.rule == nil {
		return false
	}
	for _, o := range ops {
		if c.rule.op == o {
			return true
		}
	}
	return false
}

// name is the name of the function, for messages.
func (c *call) name() string {
	common := c.instr.Common()
	if common.IsInvoke() {
		return common.Method.Name()
	}
	f := common.StaticCallee()
	if f == nil {
		return "a function"
	}
	if f.Parent() != nil {
		return "release" // which messages say after "its"
	}
	if object, ok := f.Object().(*types.Func); ok {
		return object.Name()
	}
	return f.Name()
}

// first returns the first result of a call, nil where nobody takes it.
func first(v ssa.Value) ssa.Value { return result(v, 0) }

// result returns the result of a number, of a call with one result or several.
func result(v ssa.Value, n int) ssa.Value {
	tuple, ok := v.Type().(*types.Tuple)
	if !ok {
		if n == 0 {
			return v
		}
		return nil
	}
	if n >= tuple.Len() {
		return nil
	}
	for _, r := range *v.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && e.Index == n {
			return e
		}
	}
	return nil
}

// resultOf returns the call that a value is the first result of, and whether it is one.
func resultOf(v ssa.Value) (*ssa.Call, bool) {
	if e, ok := v.(*ssa.Extract); ok && e.Index == 0 {
		v = e.Tuple
	}
	c, ok := v.(*ssa.Call)
	return c, ok
}

// errorOf returns the error of a call, nil where it has none or nobody takes it.
func errorOf(v ssa.Value) ssa.Value {
	if n := errorIndex(v); n > 0 {
		return result(v, n)
	}
	return nil
}

// errorIndex is the number of the last result if that is an error and not the only one, or -1.
func errorIndex(v ssa.Value) int {
	tuple, ok := v.Type().(*types.Tuple)
	if !ok || tuple.Len() < 2 || !isError(tuple.At(tuple.Len()-1).Type()) {
		return -1
	}
	return tuple.Len() - 1
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}
