package bufslab

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each name that docs/stability.md says stays is there.
func TestNamesThatStayAreThere(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/stability.md"), "\n## Names that stay\n")
	table, _, _ = strings.Cut(table, "\n## ")
	has, names := map[string]map[string]bool{}, regexp.MustCompile("`([\\w.]+)`")
	count := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		of, _, _ := strings.Cut(strings.TrimSpace(cells[1]), ",") // the package, where a name does not begin with one
		for _, n := range names.FindAllStringSubmatch(cells[2], -1) {
			pkg, name := of, n[1]
			if before, after, is := strings.Cut(name, "."); is && strings.ToLower(before) == before {
				pkg, name = before, after
			}
			if has[pkg] == nil {
				has[pkg] = exported(t, pkg)
			}
			if count++; !has[pkg][name] {
				t.Errorf("%s.%s is not there", pkg, name)
			}
		}
	}
	if count < 80 {
		t.Errorf("the table has %d names", count)
	}
}

// exported returns the names of a package, and those of its methods behind the name of their type.
func exported(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(pkg + "/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("package %s: %v", pkg, err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, pkg)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, name := range v.Names {
				names[name] = true
			}
		}
	}
	funcs := func(all []*doc.Func, of string) {
		for _, f := range all {
			names[of+f.Name] = true
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs, "")
	for _, typ := range p.Types {
		names[typ.Name] = true
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs, "")
		funcs(typ.Methods, typ.Name+".")
	}
	return names
}
