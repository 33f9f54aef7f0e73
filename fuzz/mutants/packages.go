package main

import (
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// packages returns the files of each package with tests that the arguments name, for this platform, by its
// folder: of all modules, and of all packages but those apart without arguments.
func packages(args []string) (map[string][]string, error) {
	modules, err := modules()
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, module := range modules {
		command := exec.Command("go", "list", "-find", "-f", "{{.Dir}}|{{len .TestGoFiles}}{{len .XTestGoFiles}}|"+
			`{{join .GoFiles "|"}}`, "./...")
		command.Dir = module
		out, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", module, err)
		}
		if err := enter(found, string(out), args); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no package with tests is named %s", strings.Join(args, ", "))
	}
	return found, nil
}

// enter adds what go list printed.
func enter(found map[string][]string, out string, args []string) error {
	top, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	for _, line := range strings.Fields(out) {
		words := strings.Split(line, "|")
		dir, err := filepath.Rel(top, words[0])
		if err != nil {
			return err
		}
		if dir = filepath.ToSlash(dir); words[1] != "00" && named(dir, args) {
			found[dir] = words[2:]
		}
	}
	return nil
}

// named reports whether one of the arguments is the folder, or ends in /... and is around it.
func named(dir string, args []string) bool {
	for _, arg := range args {
		around, all := strings.CutSuffix(path.Clean(arg), "/...")
		if around == dir || all && strings.HasPrefix(dir, around+"/") || arg == "./..." || arg == "..." {
			return true
		}
	}
	return len(args) == 0 && !apart.MatchString(dir)
}

// apart are packages that are drawn from only if they are named: those that test, measure and show others. A number
// of a random program, or of a load, is no promise.
var apart = regexp.MustCompile(`^(fuzz|bench|examples)(/|$)|/double/|` +
	`^internal/(check|pooltest|upstreamtest|blocktable|knot|browsertest)(/|$)`)

// modules returns the folders of the repository with a go.mod.
func modules() (all []string, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case d.Name() == "go.mod":
			all = append(all, path.Dir(filepath.ToSlash(name)))
		}
		return nil
	})
	return all, err
}
