package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// A suite is a copy of arrow-go's module in which memory.GoAllocator, and so the default
// allocator, is what the environment says.
type suite struct {
	t        *testing.T
	dir      string
	packages []tested // those that use package memory
	reports  int      // of them, those that tell in the end what their pool has counted
	programs string   // the directory of their tests, compiled
}

// A tested is a package with tests, which run in its directory.
type tested struct{ path, dir string }

const arrowModule = "github.com/apache/arrow-go/v18"

// output runs a command in a directory and returns its standard output.
func output(t *testing.T, dir string, env []string, command ...string) []byte {
	t.Helper()
	out, err := attempt(dir, env, command...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// attempt is output. A command that fails has written something: else it did not run.
func attempt(dir string, env []string, command ...string) ([]byte, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = dir, append(append(os.Environ(), "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOWORK=off"), env...)
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.Output()
	if _, failed := err.(*exec.ExitError); err != nil && (!failed || len(out) == 0) {
		return nil, fmt.Errorf("%q: %v\n%s", command, err, errors.Bytes())
	}
	return out, nil
}

// newSuite copies the module from the module cache and changes the copy.
func newSuite(t *testing.T) *suite {
	t.Helper()
	s := &suite{t: t, dir: t.TempDir()}
	from := strings.TrimSpace(string(output(t, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}", arrowModule)))
	if err := os.CopyFS(s.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	output(t, s.dir, nil, "go", "mod", "edit", "-require=github.com/bufslab/bufslab@v0.0.0", "-replace=github.com/bufslab/bufslab="+root)
	s.changeAllocator()
	s.find()
	s.compile()
	return s
}

// changeAllocator renames the methods of arrow's allocator, and adds ours.
func (s *suite) changeAllocator() {
	path := filepath.Join(s.dir, "arrow/memory/go_allocator.go")
	text := string(s.read(path))
	for _, name := range []string{"Allocate", "Reallocate"} {
		text = strings.ReplaceAll(text, "GoAllocator) "+name+"(", "GoAllocator) own"+name+"(")
	}
	text = strings.ReplaceAll(text, " a.Allocate(", " a.ownAllocate(")
	text = strings.ReplaceAll(text, "func (a *GoAllocator) Free(b []byte) {}", "")
	s.write(path, text)
	s.write(filepath.Join(s.dir, "arrow/memory/bufslab.go"), string(s.read("testdata/allocator.go.txt")))
}

// dear matches packages that take longer to build than all others take to run. They are tested if BUFSLAB_STRESS is set.
var dear = regexp.MustCompile("/(compute|csv|flight|avro|exprs|cmd)(/|$)")

// most matches the packages that get the most buffers: -short tests these.
var most = regexp.MustCompile("/arrow/(array|ipc|memory)$")

// find finds the packages whose tests use package memory, and has those without a TestMain
// report. A driver of SQL is never tested.
func (s *suite) find() {
	const memory = arrowModule + "/arrow/memory"
	list := output(s.t, s.dir, nil, "go", "list", "-f",
		`{{.ImportPath}} {{.Name}} {{.Dir}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}{{if or .TestGoFiles .XTestGoFiles}} tested{{end}}`, "./arrow/...")
	for line := range strings.Lines(string(list)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasSuffix(rest, " tested") || !strings.Contains(rest, memory+" ") || strings.Contains(path, "/flightsql/") ||
			dear.MatchString(path) && os.Getenv("BUFSLAB_STRESS") == "" || testing.Short() && !most.MatchString(path) {
			continue
		}
		f := strings.Fields(rest)
		s.packages = append(s.packages, tested{path, f[1]})
		if !s.hasMain(f[1]) {
			s.reports++
			text := strings.ReplaceAll(string(s.read("testdata/main_test.go.txt")), "PACKAGE", f[0])
			s.write(filepath.Join(f[1], "bufslab_test.go"), text)
		}
	}
}

// compile compiles the tests once for all allocators, which takes most of the time.
func (s *suite) compile() {
	s.t.Helper()
	s.programs = s.t.TempDir()
	quick := "-gcflags=" + arrowModule + "/...=-N -l -dwarf=false"
	command := []string{"go", "test", "-c", "-o", s.programs, quick, "-vet=off"}
	for _, p := range s.packages {
		command = append(command, p.path)
	}
	output(s.t, s.dir, nil, command...)
}

func (s *suite) hasMain(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, f := range files {
		if bytes.Contains(s.read(f), []byte("func TestMain(")) {
			return true
		}
	}
	return false
}

func (s *suite) read(path string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *suite) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// results are what became of tests, by package and name: pass, fail, skip.
type results map[string]string

// run runs the tests of packages on an allocator. It returns what their pools counted, too.
func (s *suite) run(allocator string, packages []tested, args ...string) (results, []slab.Stats) {
	s.t.Helper()
	reports := s.t.TempDir()
	env := []string{"BUFSLAB_COMPAT=" + allocator, "BUFSLAB_REPORT=" + reports}
	r := results{}
	var mu sync.Mutex
	var all sync.WaitGroup
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, p := range packages {
		all.Go(func() {
			turn <- struct{}{}
			program := filepath.Join(s.programs, path.Base(p.path)+".test")
			out, err := attempt(p.dir, env, append([]string{"go", "tool", "test2json", program, "-test.v=test2json", "-test.timeout=10m"}, args...)...)
			<-turn
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.t.Error(err)
			}
			r.add(strings.TrimPrefix(p.path, arrowModule+"/"), out)
		})
	}
	all.Wait()
	return r, s.stats(reports)
}

// add adds what test2json wrote of a package.
func (r results) add(of string, out []byte) {
	for line := range bytes.Lines(out) {
		var e struct{ Action, Test string }
		if json.Unmarshal(line, &e) == nil && e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			r[of+"."+e.Test] = e.Action
		}
	}
}

// stats reads what TestMain has reported.
func (s *suite) stats(dir string) (all []slab.Stats) {
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		var one slab.Stats
		if err := json.Unmarshal(s.read(f), &one); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}
