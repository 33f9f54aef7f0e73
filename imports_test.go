package bufslab

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bufslab/bufslab/"

// below lists for every top directory those that its packages may import,
// beside itself and internal.
var below = map[string][]string{
	"internal": {},
	"device":   {},
	"slab":     {"device"},
	"trace":    {"slab", "device"},
	"growpool": {"slab", "device"},
	"unified":  {"slab", "device"},
	"fuzz":     {"unified", "growpool", "trace", "slab", "device"},
	"cmd":      {"unified", "growpool", "trace", "slab", "device"},
}

// list runs go list with a format and returns its lines.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %q: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// top is the top directory of one of our packages, "" of any other.
func top(path string) string {
	rest, ours := strings.CutPrefix(path, module)
	if !ours {
		return ""
	}
	dir, _, _ := strings.Cut(rest, "/")
	return dir
}

func TestImportsPointDown(t *testing.T) {
	for _, line := range list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		paths := strings.Fields(line)
		from := top(paths[0])
		if from == "" {
			continue // this package, which has no code
		}
		allowed, known := below[from]
		if !known {
			t.Errorf("directory %s has no place in the order of imports", from)
		}
		allowed = append(slices.Clone(allowed), from, "internal", "")
		for _, path := range paths[1:] {
			if !slices.Contains(allowed, top(path)) {
				t.Errorf("%s imports %s, which is not below it", paths[0], path)
			}
		}
	}
}

func TestSlabNeedsLittle(t *testing.T) {
	for _, path := range list(t, "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{end}}`, "./slab") {
		if path != "" && !strings.HasPrefix(path, module) && !strings.HasPrefix(path, "golang.org/x/sys/") &&
			path != "github.com/dustin/go-humanize" {
			t.Errorf("package slab needs %s", path)
		}
	}
}

func TestOnlyFuzzImportsRapid(t *testing.T) { onlyImports(t, "fuzz", "pgregory.net/rapid") }

func TestOnlyGrowpoolImportsRistretto(t *testing.T) {
	onlyImports(t, "growpool", "github.com/dgraph-io/ristretto/v2")
}

// onlyImports fails if packages of another directory import a module, in tests too.
func onlyImports(t *testing.T, dir, module string) {
	t.Helper()
	for _, line := range list(t, "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...") {
		paths := strings.Fields(line)
		if top(paths[0]) != dir && slices.Contains(paths[1:], module) {
			t.Errorf("%s imports %s", paths[0], module)
		}
	}
}
