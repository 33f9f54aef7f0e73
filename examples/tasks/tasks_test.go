package tasks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block finds the programs of the page, and what each prints.
var block = regexp.MustCompile("(?s)\n```go\n(.*?\n)```\n\n```\n(.*?\n)```\n")

// built returns a folder with all programs, and the command bufslab.
func built(t *testing.T) string {
	dir := t.TempDir() + "/"
	run(t, nil, "go", "build", "-o", dir, "./...")
	run(t, nil, "go", "build", "-C", "../..", "-o", dir, "./cmd/bufslab")
	return dir
}

// run returns what a command prints to its standard output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env, c.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// The page has the programs of this module, and what they print.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("*/main.go")
	of := map[string]string{} // the text of a program: its name
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		of[string(text)] = filepath.Dir(file)
	}
	dir := built(t)
	programs := block.FindAllStringSubmatch(string(page), -1)
	for _, p := range programs {
		name, has := of[p[1]]
		if !has {
			t.Errorf("the page has a program that is no file here:\n%s", p[1])
			continue
		}
		delete(of, p[1])
		if name == "choose" {
			continue
		}
		if got := run(t, nil, dir+name); got != p[2] {
			t.Errorf("%s printed\n%sand the page says\n%s", name, got, p[2])
		}
	}
	if len(programs) != 8 || len(of) > 0 {
		t.Errorf("%d programs on the page, these are not: %v", len(programs), of)
	}
}

// The steps of the last task work, one after the other.
func TestChoose(t *testing.T) {
	dir := built(t)
	trace, stats := dir+"t.csv.gz", dir+"stats.json"
	run(t, []string{"BUFSLAB_CONF=device=heap,record=" + trace}, dir+"choose")
	line := regexp.MustCompile(`(?m)^\t(device=heap\S*)$`).FindStringSubmatch(run(t, nil, dir+"bufslab", "tune", trace))
	if line == nil {
		t.Fatal("tune proposes no line")
	}
	if err := os.WriteFile(stats, []byte(run(t, []string{"BUFSLAB_CONF=" + line[1]}, dir+"choose")), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := run(t, nil, dir+"bufslab", "verify", line[1], stats, trace); !strings.Contains(said, "The promise holds.") {
		t.Error(said)
	}
}
