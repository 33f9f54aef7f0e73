package vet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/ssa"
)

// buildSSA builds the package and returns its functions, literals after the function
// that they are in. The packages that it imports are known by their types alone.
func buildSSA(pass *analysis.Pass) []*ssa.Function {
	program := ssa.NewProgram(pass.Fset, 0)
	program.SetNoReturn(pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs).NoReturn)
	for _, imported := range pass.Pkg.Imports() {
		program.CreatePackage(imported, nil, nil, true)
	}
	program.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false).Build()
	var all []*ssa.Function
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				f := program.FuncValue(pass.TypesInfo.Defs[d.Name].(*types.Func))
				all = withLiterals(all, f)
			}
		}
	}
	return all
}

func withLiterals(all []*ssa.Function, f *ssa.Function) []*ssa.Function {
	if f == nil || f.Blocks == nil {
		return all
	}
	all = append(all, f)
	for _, literal := range f.AnonFuncs {
		all = withLiterals(all, literal)
	}
	return all
}
