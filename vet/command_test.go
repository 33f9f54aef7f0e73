package vet_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The command finds nothing in the packages of this repository and their tests. It runs as
// go vet runs it, and by itself. .ci/run has it run over the examples, which want modules.
func TestCommandFindsNothingHere(t *testing.T) {
	command := build(t)
	if out, err := run("..", "go", "vet", "-vettool="+command, "./..."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run("..", command, "./growpool"); err != nil {
		t.Errorf("by itself: %v\n%s", err, out)
	}
}

// And it finds what is wrong in a module of its own.
func TestCommandFinds(t *testing.T) {
	command := build(t)
	for _, args := range [][]string{{"go", "vet", "-vettool=" + command, "."}, {command, "."}} {
		out, err := run("testdata/wrong", args...)
		if err == nil || !strings.Contains(out, "wrong.go:12:3: pooled object is used after its Put on line 11") {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}

// build builds the command.
func build(t *testing.T) (path string) {
	t.Helper()
	if testing.Short() {
		t.Skip("The command is built and run over the repository without -short only.")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("There is no go command to build and run ours with.")
	}
	path = filepath.Join(t.TempDir(), "bufslabvet")
	if out, err := run(".", "go", "build", "-o", path, "./cmd/bufslabvet"); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

func run(dir string, args ...string) (string, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}
