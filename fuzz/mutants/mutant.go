package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is a seeded bug.
type mutant struct {
	name     string
	file     string // from the top of the module
	old, new string // old is there once
	killer
	fast       bool
	equivalent string // why no test can tell, or ""
}

// A killer is the test that notices a mutant.
type killer struct {
	pkg, test string // test may name several: A|B, or a part: A/b
	race      bool   // by the race detector
}

// A fate is what became of a mutant.
type fate string

const (
	killed     fate = "killed"
	equivalent fate = "equivalent"
	lives      fate = "LIVES"
	broken     fate = "BROKEN" // it does not compile, or is not in the source, or the test fails anyway
)

func all() []mutant {
	return slices.Concat(ofSlab, ofHandles, ofCaches, ofCacheSizes, ofHeaps, ofGrowpool, ofUnified, ofDevices, ofMetal, ofTraces, ofPromises, ofBodies, ofRefs, ofShortages, ofVet, ofOthers)
}

// mutate returns the changed text of the file.
func (m mutant) mutate(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s: its text is there %d times", m.file, n)
	}
	return strings.Replace(string(text), m.old, m.new, 1), nil
}

// tryBeside runs the killer on the mutant. passes says whether it passes without.
func (m mutant) tryBeside(passes func() bool) (fate, string) {
	overlay, remove, err := m.overlay()
	if err != nil {
		return broken, err.Error()
	}
	defer remove()
	if !passes() {
		return broken, m.test + " fails without it"
	}
	out, err := m.run("-overlay=" + overlay)
	switch text := string(out); {
	case err == nil && strings.Contains(text, "no tests to run"):
		return broken, "no test is named " + m.test
	case err == nil:
		return lives, m.test + " passes"
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		return broken, firstLines(text, 4)
	}
	return killed, m.pkg + " " + m.test
}

// overlay writes the changed file, and the file that tells the go command of it.
func (m mutant) overlay() (path string, remove func(), err error) {
	root, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	text, err := m.mutate(root)
	if err != nil {
		return "", nil, err
	}
	return overlayOf(m.file, []byte(text))
}

// run runs the test with flags of the go command, in the module of the package.
func (k killer) run(flags ...string) ([]byte, error) {
	args := append([]string{"test", "-vet=off", "-count=1", "-timeout=60s", "-run=^(" + strings.ReplaceAll(k.test, "/", ")$/^(") + ")$"}, flags...)
	if k.race {
		args = append(args, "-race")
	}
	module := k.module()
	inModule, err := filepath.Rel(module, k.pkg)
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", append(args, "./"+filepath.ToSlash(inModule))...)
	command.Dir = module
	return command.CombinedOutput()
}

// module returns the folder of the module that has the package.
func (k killer) module() string {
	for dir := k.pkg; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.FromSlash(dir + "/go.mod")); err == nil {
			return dir
		}
	}
	return "."
}

func (k killer) passes() bool {
	_, err := k.run()
	return err == nil
}

func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], " / ")
}
