package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// A fate is what became of a change.
type fate string

const (
	killed fate = "killed"
	lives  fate = "LIVES"
	hangs  fate = "HANGS"
	broken fate = "BROKEN" // it does not compile
	unfit  fate = "UNFIT"  // it is not in the source, or the tests fail or are not there without it
)

// tests are what is to notice a change: tests of a package.
type tests struct {
	pkg  string // from the top of the repository
	run  string // the name of a test, or several: A|B, or a part of one: A/b; all if empty
	race bool   // by the race detector
}

// passing has, for each tests, the function that runs them once on the code as it is.
var passing sync.Map

// tryOn runs the tests on a changed file.
func (t tests) tryOn(file string, text []byte) (fate, string) {
	once, _ := passing.LoadOrStore(t, sync.OnceValues(func() ([]byte, error) { return t.goTest() }))
	if out, err := once.(func() ([]byte, error))(); err != nil {
		return unfit, t.String() + " fails without it: " + firstLines(string(out), 4)
	} else if strings.Contains(string(out), "no tests to run") {
		return unfit, "there is no test " + t.String()
	}
	overlay, err := overlayOf(file, text)
	defer os.RemoveAll(filepath.Dir(overlay))
	if err != nil {
		return unfit, err.Error()
	}
	out, err := t.goTest("-overlay=" + overlay)
	switch text := string(out); {
	case err == nil:
		return lives, t.String() + " passes"
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		return broken, firstLines(text, 4)
	case strings.Contains(text, "panic: test timed out"):
		return hangs, t.String() + " takes too long, or the machine is busy"
	}
	return killed, t.String()
}

// goTest runs the tests with further flags of the go command, in the module of the package.
func (t tests) goTest(flags ...string) ([]byte, error) {
	args := append([]string{"test", "-vet=off", "-count=1", "-failfast", "-timeout=5m"}, flags...)
	if t.run != "" {
		args = append(args, "-timeout=60s", "-run=^("+strings.ReplaceAll(t.run, "/", ")$/^(")+")$")
	}
	if t.race {
		args = append(args, "-race")
	}
	module := moduleOf(t.pkg)
	inModule, err := filepath.Rel(module, t.pkg)
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", append(args, "./"+filepath.ToSlash(inModule))...)
	command.Dir = module
	return command.CombinedOutput()
}

func (t tests) String() string { return strings.TrimSpace(t.pkg + " " + t.run) }

// moduleOf returns the folder of the module that has a package.
func moduleOf(pkg string) string {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(dir + "/go.mod"); err == nil {
			return dir
		}
	}
	return "."
}

// overlayOf writes a changed file, and the file beside it that tells the go command of it.
func overlayOf(file string, text []byte) (name string, err error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	original, err := filepath.Abs(file)
	if err != nil {
		return name, err
	}
	changed := filepath.Join(dir, "changed.go")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return name, err
	}
	if err := os.WriteFile(changed, text, 0o666); err != nil {
		return name, err
	}
	return name, os.WriteFile(name, replace, 0o666)
}

func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], " / ")
}
