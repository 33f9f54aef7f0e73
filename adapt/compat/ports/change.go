//go:build unix

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// changed returns the files of theirs of which a part is replaced.
func (b *build) changed() []string {
	return slices.Sorted(maps.Keys(union(b.cut, b.edit)))
}

func union[A, B any](a map[string]A, b map[string]B) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// change returns a file of theirs without the declarations that ours replaces, and with its edits. Each has to be
// there.
func (b *build) change(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(b.files, name))
	if err != nil {
		return nil, err
	}
	for _, declared := range b.cut[name] {
		if text, err = without(text, declared); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, e := range b.edit[name] {
		r := regexp.MustCompile(e.pattern)
		if !r.Match(text) {
			return nil, fmt.Errorf("%s: nothing matches %s", name, e.pattern)
		}
		text = r.ReplaceAll(text, []byte(e.by))
	}
	return text, nil
}

// without returns Go source without a declaration.
func without(text []byte, name string) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if declares(d, name) {
			from, to := set.Position(d.Pos()).Offset, set.Position(d.End()).Offset
			return bytes.Join([][]byte{text[:from], text[to:]}, nil), nil
		}
	}
	return nil, fmt.Errorf("no declaration of %s", name)
}

// declares reports whether d is a function, a method (Type.Method), or alone a type or variables, of which name is the
// first.
func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return receiver(d.Recv.List[0].Type)+"."+d.Name.Name == name
		}
		return d.Name.Name == name
	case *ast.GenDecl:
		if len(d.Specs) != 1 {
			return false
		}
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name == name
		case *ast.ValueSpec:
			return s.Names[0].Name == name
		}
	}
	return false
}

// receiver returns the name of a receiver's type, without * and [T].
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
