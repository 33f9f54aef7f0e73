package vet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A seed is a mistake that is put into a copy of a program of this repository.
type seed struct {
	mistake string
	program string   // a folder of copied
	edits   []string // old text and new text, in turn
	says    string   // what is reported there, no more than that
	missed  string   // why it is not found; then nothing is reported
}

// copied are the programs that mistakes are put into, by the names of their copies. The examples that need libraries
// of others are left out: .ci/run has the command look at them. An example in a test becomes no test: there nothing is
// said of what is never released. Those of slab ignore errors, so they stay tests.
var copied = map[string][]string{
	"batches":  {"examples/batches/main.go", "examples/batches/lane.go"},
	"edge":     {"examples/edge/main.go", "examples/edge/idle.go", "examples/edge/limit_unix.go", "examples/edge/limit_other.go"},
	"kvcache":  {"examples/kvcache/main.go", "examples/kvcache/serve.go"},
	"readme":   {"example_test.go"},
	"arena":    {"arena/example_test.go"},
	"growpool": {"growpool/example_test.go"},
	"iobuf":    {"iobuf/example_test.go"},
	"unified":  {"unified/example_test.go", "unified/example_patterns_test.go"},
	"slab":     {"slab/example_make_test.go", "slab/example_part_test.go", "slab/example_pool_test.go"},
}

// Of the mistakes that programs like ours make at least 19 in 20 are found, each in a copy of its own, and nothing is
// said of the programs as they are. One look of go vet has all copies.
func TestSeededMistakesAreFound(t *testing.T) {
	command := build(t)
	module := t.TempDir()
	seedModule(t, module)
	out, _ := run(module, "go", "vet", "-vettool="+command, "./...") // fails as it finds something
	reports := reportsByCopy(t, out)
	for folder, all := range reports {
		if strings.HasPrefix(folder, "right/") {
			t.Errorf("%s as it is: %s", folder, all)
		}
	}
	if got := reports["leaks/program"]; len(got) != 1 || !strings.Contains(read(t, "../docs/leaks.md"), "$ bufslabvet .\n"+got[0]+"\n") {
		t.Errorf("docs/leaks.md does not have what is reported of its program: %q", got)
	}
	for i := range blocks {
		if folder := fmt.Sprint("wrong/readme", i+1); len(reports[folder]) == 0 {
			t.Errorf("README.md, block %d: nothing is reported of what is wrong", i+1)
		}
	}
	found := 0
	for i, s := range seeds {
		got := reports[s.copy(i)]
		told := len(got) > 0 && !slices.ContainsFunc(got, func(r string) bool { return !strings.Contains(r, s.says) })
		switch {
		case told && s.missed == "":
			found++
		case s.missed == "" || len(got) > 0:
			t.Errorf("%s: %q is reported, not %q", s.mistake, got, s.says)
		default:
			t.Logf("%s: not found: %s", s.mistake, s.missed)
		}
	}
	if t.Logf("%d of %d found", found, len(seeds)); len(seeds) < 20 || 20*found < 19*len(seeds) {
		t.Errorf("%d of %d found", found, len(seeds))
	}
}

// copy is the folder that a seed is in.
func (s seed) copy(i int) string { return fmt.Sprintf("seed%d/%s", i+1, s.program) }

// seedModule makes a module of the programs as they are, of that in docs/leaks.md, and of a copy for each seed.
func seedModule(t *testing.T, module string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const ours = "github.com/bufslab/bufslab"
	write(t, filepath.Join(module, "go.mod"), strings.Replace(read(t, "../go.mod"), "module "+ours, "module seeded", 1)+
		"\nrequire "+ours+" v0.0.0\n\nreplace "+ours+" => "+strconv.Quote(root)+"\n")
	write(t, filepath.Join(module, "go.sum"), read(t, "../go.sum"))
	for program := range copied {
		copyProgram(t, filepath.Join(module, "right", program), program, nil)
	}
	_, code, _ := strings.Cut(read(t, "../docs/leaks.md"), "```go\n")
	code, _, _ = strings.Cut(code, "```\n")
	write(t, filepath.Join(module, "leaks", "program", "main.go"), code)
	wrong, end, _ := strings.Cut(code, "	b, err := pool.Get(1 << 20)\n")
	_, end, _ = strings.Cut(end, "return b.Bytes(), nil // b is dropped here\n")
	right := strings.Replace(wrong, "	runtime.GC", "	defer pool.Put(page)\n	runtime.GC", 1) + "	return pool.GetBytes(1 << 20)\n" + end
	write(t, filepath.Join(module, "right", "leaks", "main.go"), right)
	writeReadme(t, module)
	for i, s := range seeds {
		copyProgram(t, filepath.Join(module, s.copy(i)), s.program, s.edits)
	}
}

// copyProgram writes a program with edits, of which each has to fit one place.
func copyProgram(t *testing.T, to, program string, edits []string) {
	t.Helper()
	texts := map[string]string{}
	for _, file := range copied[program] {
		name := filepath.Base(file)
		if program != "slab" {
			name = strings.Replace(name, "_test.go", ".go", 1)
		}
		texts[name] = read(t, "../"+file)
	}
	for i := 0; i < len(edits); i += 2 {
		fits := 0
		for name, text := range texts {
			fits += strings.Count(text, edits[i])
			texts[name] = strings.Replace(text, edits[i], edits[i+1], 1)
		}
		if fits != 1 {
			t.Errorf("%s has in %d places, not in one: %s", program, fits, edits[i])
		}
	}
	for name, text := range texts {
		write(t, filepath.Join(to, name), text)
	}
}

// reportsByCopy sorts what go vet prints by the copies that it is about. All else is a fault of ours.
func reportsByCopy(t *testing.T, out string) map[string][]string {
	t.Helper()
	reports := map[string][]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		place, message, ok := strings.Cut(line, ": ")
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(place)), "./")
		if !ok || !strings.Contains(folder, "/") {
			t.Errorf("go vet says: %s", line)
			continue
		}
		reports[folder] = append(reports[folder], filepath.Base(place)+": "+message)
	}
	return reports
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
