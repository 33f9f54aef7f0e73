// Command knot says how far the files of a package reach each other, and how much a package
// shows: run it where a package may have become hard to read in parts.
//
//	go run ./internal/knot [-most N] [-v] PACKAGE...
//
// A file reaches another one of its package if it uses what is declared there: a name, a method or
// a field. Files that reach each other, by way of others too, are a knot: none of them can be read
// alone. For each package, tests aside, it prints the files, the lines, the exported names, methods and
// fields, and the files of the largest knot, 1 if there is none. With -most it fails where that is larger;
// with -v it names them, and says which file uses how many places of which other one.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
)

func main() {
	most := flag.Int("most", 0, "fail where a knot has more files; 0 is no bound")
	verbose := flag.Bool("v", false, "name the files of the largest knot and what joins them")
	flag.Parse()
	if err := run(flag.Args(), *most, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(patterns []string, most int, verbose bool) error {
	list, err := load(patterns)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "files\tlines\tnames\tmethods\tfields\tknot\t package\t")
	var tangled []string
	for _, p := range list {
		knot := largestKnot(p.uses)
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t %s\t\n", len(p.uses), p.lines, p.names, p.methods, p.fields, len(knot),
			p.path)
		if verbose && len(knot) > 1 {
			w.Flush()
			printKnot(os.Stdout, p.uses, knot)
		}
		if most > 0 && len(knot) > most {
			tangled = append(tangled, p.path)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if tangled != nil {
		return fmt.Errorf("knot: more than %d files reach each other in %v", most, tangled)
	}
	return nil
}

// A uses is the graph of a package's files: how many places of the one use what the other declares.
type uses map[string]map[string]int

// A pkg is a package without its tests.
type pkg struct {
	path                          string
	uses                          uses
	lines, names, methods, fields int
	files                         []*ast.File
	fset                          *token.FileSet
	info                          *types.Info
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// load reads and checks the packages that match the patterns.
func load(patterns []string) ([]*pkg, error) {
	c := exec.Command("go",
		append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", "--"},
			patterns...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var roots []listed
	for d := json.NewDecoder(out); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly && len(l.GoFiles) > 0 {
			roots = append(roots, l)
		}
	}
	if err := c.Wait(); err != nil {
		return nil, err
	}
	var list []*pkg
	for _, l := range roots {
		p, err := check(l, exports)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// check parses and checks a package, whose imports have been compiled.
func check(l listed, exports map[string]string) (*pkg, error) {
	p := &pkg{path: l.ImportPath, uses: uses{}, fset: token.NewFileSet()}
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(p.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
		p.uses[name] = map[string]int{}
		p.lines += p.fset.File(f.Pos()).LineCount()
	}
	p.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	c := types.Config{Importer: importer.ForCompiler(p.fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	t, err := c.Check(l.ImportPath, p.fset, p.files, p.info)
	if err != nil {
		return nil, err
	}
	p.count(t)
	p.link(t)
	return p, nil
}

// count counts what the package exports.
func (p *pkg) count(t *types.Package) {
	for _, name := range t.Scope().Names() {
		o := t.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		p.names++
		n, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !isType || !ok {
			continue
		}
		for m := range n.Methods() {
			p.methods += one(m.Exported())
		}
		if s, ok := n.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				p.fields += one(f.Exported())
			}
		}
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// link enters each use of what another file of the package declares.
func (p *pkg) link(t *types.Package) {
	for id, o := range p.info.Uses {
		switch x := o.(type) {
		case *types.Func:
			o = x.Origin()
		case *types.Var:
			o = x.Origin()
		}
		if o.Pkg() != t || !o.Pos().IsValid() {
			continue
		}
		from, to := p.file(id.Pos()), p.file(o.Pos())
		if from != to {
			p.uses[from][to]++
		}
	}
}

func (p *pkg) file(at token.Pos) string { return filepath.Base(p.fset.Position(at).Filename) }
