package bufslab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

const module = "github.com/bufslab/bufslab/"

// below lists for every top directory those that its packages may import,
// beside itself and internal.
var below = map[string][]string{
	"internal":     {},
	"device":       {},
	"slab":         {"device"},
	"adapt":        {"slab", "device"},
	"arena":        {"slab", "device"},
	"inspect":      {"slab"},
	"slabtest":     {"slab"},
	"pooltest":     {"slab", "device"}, // internal/pooltest, for tests of what is above slab
	"upstreamtest": {"device"},         // internal/upstreamtest, for tests of slab and below fuzz
	"pressure":     {"slab"},
	"trace":        {"slab", "device"},
	"iobuf":        {"slab", "device"},
	"growpool":     {"slab", "device"},
	"unified":      {"slab", "device"},
	"fuzz":         {"unified", "growpool", "adapt", "arena", "iobuf", "trace", "slab", "device", "upstreamtest"},
	"cmd":          {"unified", "growpool", "trace", "slab", "device"},
}

// listed are the answers of go list, as several tests ask for the same.
var listed = map[string][]string{}

// list runs go list with a format and returns its lines.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	question := fmt.Sprintf("%s %s %q", os.Getenv("GOOS"), os.Getenv("CGO_ENABLED"), args)
	if lines, known := listed[question]; known {
		return lines
	}
	check.GoCommand(t)
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %q: %v", args, err)
	}
	listed[question] = strings.Split(strings.TrimSpace(string(out)), "\n")
	return listed[question]
}

// top is the top directory of one of our packages, "" of any other.
func top(path string) string {
	rest, ours := strings.CutPrefix(path, module)
	if !ours {
		return ""
	}
	if test, is := strings.CutPrefix(rest, "internal/"); is && (test == "pooltest" || test == "upstreamtest") {
		return test
	}
	dir, _, _ := strings.Cut(rest, "/")
	return dir
}

// The parts of package slab know nothing of it.
func TestPartsOfSlabDoNotImportIt(t *testing.T) {
	for _, line := range list(t, "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./slab/internal/...") {
		paths := strings.Fields(line)
		if slices.Contains(paths[1:], module+"slab") {
			t.Errorf("%s imports package slab", paths[0])
		}
	}
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

// What takes buffers of a pool as a program would is no part of it.
func TestSlabDoesNotKnowItsClients(t *testing.T) {
	for _, path := range list(t, "-deps", "./slab") {
		if slices.Contains([]string{"adapt", "arena", "growpool", "inspect", "iobuf", "trace", "unified"}, top(path)) {
			t.Errorf("package slab imports %s", path)
		}
	}
}

func TestSlabAndInspectNeedLittle(t *testing.T) {
	for _, path := range list(t, "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{end}}`, "./slab/...", "./inspect") {
		if path != "" && !strings.HasPrefix(path, module) && !strings.HasPrefix(path, "golang.org/x/sys/") {
			t.Errorf("packages slab and inspect need %s", path)
		}
	}
}

// What is in /debug/pprof/ of http.DefaultServeMux is up to the program, as net/http/pprof
// puts it there when it is imported; and only who wants to serve pools, or to
// write Buffers to connections, gets net.
func TestInspectRegistersNothing(t *testing.T) {
	if slices.Contains(list(t, "-deps", "./inspect"), "net/http/pprof") {
		t.Error("package inspect imports net/http/pprof")
	}
	for _, system := range []string{"linux", "darwin", "windows"} { // golang.org/x/sys/windows imports net
		t.Setenv("GOOS", system)
		if slices.Contains(list(t, "-deps", "./slab"), "net") {
			t.Error("package slab needs package net on " + system)
		}
	}
}

// Who wants a Buffer gets no HTTP: that is in a package below iobuf.
func TestIobufDoesNotNeedHTTP(t *testing.T) {
	if slices.Contains(list(t, "-deps", "./iobuf"), "net/http") {
		t.Error("package iobuf needs net/http")
	}
}

func TestOnlyFuzzImportsRapid(t *testing.T) { onlyImports(t, "fuzz", "pgregory.net/rapid") }

func TestOnlyFuzzImportsPorcupine(t *testing.T) {
	onlyImports(t, "fuzz", "github.com/anishathalye/porcupine")
}

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

// withCUDA lists what package cuda is made of when it is built for a GPU.
func withCUDA(t *testing.T, format string) []string {
	t.Helper()
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "amd64")
	return list(t, "-tags", "cuda", "-f", format, "./...")
}

func TestOnlyCUDAWithItsTagImportsTheDriver(t *testing.T) {
	importers := func(lines []string) (all []string) {
		for _, line := range lines {
			if paths := strings.Fields(line); slices.ContainsFunc(paths[1:], isDriver) {
				all = append(all, paths[0])
			}
		}
		return all
	}
	if got := importers(list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")); got != nil {
		t.Errorf("without the tag %v import the driver", got)
	}
	const want = module + "device/cuda"
	if got := importers(withCUDA(t, `{{.ImportPath}} {{join .Imports " "}}`)); !slices.Equal(got, []string{want}) {
		t.Errorf("%v import the driver, not only %s", got, want)
	}
}

func isDriver(path string) bool {
	return path == "gorgonia.org/cu" || strings.HasPrefix(path, "gorgonia.org/cu/")
}

func TestNobodyImportsCUDA(t *testing.T) {
	for _, line := range withCUDA(t, `{{.ImportPath}} {{join .Imports " "}}`) {
		paths := strings.Fields(line)
		if !strings.HasPrefix(paths[0], module+"device/cuda") && top(paths[0]) != "cmd" && slices.Contains(paths[1:], module+"device/cuda") {
			t.Errorf("%s imports device/cuda", paths[0])
		}
	}
}

// What a program that imports package slab gets into its go.sum, whatever this
// module requires for the rest.
func TestConsumerOfSlabInheritsLittle(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/consumer\n\ngo 1.25.0\n\nrequire github.com/bufslab/bufslab v0.0.0\n\nreplace github.com/bufslab/bufslab => " + here + "\n",
		"main.go": "package main\n\nimport _ \"github.com/bufslab/bufslab/slab\"\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check.GoCommand(t)
	build := exec.Command("go", "build", "./...")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(sums), "\n"); n > 2 {
		t.Errorf("go.sum has %d lines:\n%s", n, sums)
	}
}

// purego makes every program that it is part of a dynamically linked one.
func TestOnlyOpenCLAndMetalReachPurego(t *testing.T) {
	const opencl, metal, purego = module + "device/opencl", module + "device/metal", "github.com/ebitengine/purego"
	for _, line := range list(t, "-f", `{{.ImportPath}} {{join .Deps " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...") {
		paths := strings.Fields(line)
		own := paths[0] == opencl || strings.HasPrefix(paths[0], metal)
		if !own && slices.ContainsFunc([]string{purego, opencl, metal}, func(p string) bool { return slices.Contains(paths[1:], p) }) {
			t.Errorf("%s reaches purego", paths[0])
		}
	}
	for _, p := range []string{opencl, metal} {
		if deps := list(t, "-deps", p); loadsLibraries() && !slices.Contains(deps, purego) {
			t.Errorf("%s does without purego, and this test without a reason", p)
		}
	}
}

// loadsLibraries says whether packages opencl and metal have anything to load here.
func loadsLibraries() bool {
	return (runtime.GOOS == "linux" || runtime.GOOS == "darwin") && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
}
