package vet

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/ssa"
)

const doc = `find misuse of pooled buffers

It reports the use of a buffer after its Release or Put, a second Release, a path
that forgets to release, a slice that outlives its buffer or is kept without it, a
handle that Grow has replaced, and errors of Get that are ignored.`

// Analyzer finds misuse of pooled buffers. Its facts tell other packages which functions
// release their parameters, borrow them, or return a buffer that the caller owns.
var Analyzer = &analysis.Analyzer{
	Name:      "bufslab",
	Doc:       doc,
	URL:       "https://github.com/bufslab/bufslab/tree/main/vet",
	Run:       run,
	Requires:  []*analysis.Analyzer{ctrlflow.Analyzer},
	FactTypes: []analysis.Fact{new(life)},
}

func run(pass *analysis.Pass) (any, error) {
	c := newChecker(pass)
	if !c.concerned() {
		return nil, nil
	}
	functions := buildSSA(pass)
	c.summarize(functions)
	c.exportFacts(functions)
	for _, f := range functions {
		if !c.testsTheTable(f) && !c.testsPanics(f) {
			c.body(f).check()
		}
	}
	return nil, nil
}

// concerned says whether the package names a function that the table or a fact knows.
// Most packages do not, and building their SSA would take most of the time.
func (c *checker) concerned() bool {
	for _, object := range c.pass.TypesInfo.Uses {
		if f, ok := object.(*types.Func); ok && (c.rule(f) != nil || c.imported(f) != nil) {
			return true
		}
	}
	return false
}

// watcher is a package that looks for misuse when a test is over.
const watcher = bufslab + "slabtest"

// testsTheTable says whether a function is in a test of a package of the table, or of the
// watcher. Such tests do wrong on purpose, to see what comes of it.
func (c *checker) testsTheTable(f *ssa.Function) bool {
	if !c.inTest(f) {
		return false
	}
	tested := strings.TrimSuffix(unvendored(c.pass.Pkg.Path()), "_test")
	return tested == watcher || slices.ContainsFunc(rules, func(r rule) bool { return fits(r.pkg, tested) })
}

// testsPanics says whether a function of a test recovers: it does wrong on purpose, too.
func (c *checker) testsPanics(f *ssa.Function) bool {
	return c.inTest(f) && slices.ContainsFunc(f.AnonFuncs, recovers)
}

func recovers(f *ssa.Function) bool {
	for _, block := range f.Blocks {
		for _, instr := range block.Instrs {
			if call, ok := instr.(*ssa.Call); ok {
				if builtin, ok := call.Call.Value.(*ssa.Builtin); ok && builtin.Name() == "recover" {
					return true
				}
			}
		}
	}
	return false
}

// inTest says whether a function is in a test.
func (c *checker) inTest(f *ssa.Function) bool {
	return strings.HasSuffix(c.pass.Fset.Position(f.Pos()).Filename, "_test.go")
}
