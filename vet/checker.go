package vet

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// A checker looks at one package.
type checker struct {
	pass   *analysis.Pass
	rules  map[*types.Func]*rule
	facts  map[*types.Func]*life
	lives  map[*ssa.Function]*life // of functions of this package, literals too
	bodies map[*ssa.Function]*body
	told   map[string]bool // reports, so that each is made once
	back   map[string]bool // types of which the package puts values back
}

func newChecker(pass *analysis.Pass) *checker {
	return &checker{
		pass:   pass,
		rules:  map[*types.Func]*rule{},
		facts:  map[*types.Func]*life{},
		lives:  map[*ssa.Function]*life{},
		bodies: map[*ssa.Function]*body{},
		told:   map[string]bool{},
	}
}

// body returns the body of a function, with what was found out about it.
func (c *checker) body(f *ssa.Function) *body {
	if b := c.bodies[f]; b != nil {
		return b
	}
	b := newBody(c, f)
	c.bodies[f] = b
	return b
}
