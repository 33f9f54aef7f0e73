//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A build is a port being built in a copy of their module: go overlays no file of the module cache, and tests write.
type build struct {
	port
	dir    string // ours, temporary: go.mod, overlay, programs
	theirs string // the copy of their module
	files  string // the copy of the module that has the files; the same, for most
}

func (p *port) build() (*build, error) {
	b := &build{port: *p}
	var err error
	if b.dir, err = os.MkdirTemp("", "ports"); err != nil {
		return b, err
	}
	if b.theirs, err = b.copied(b.suitesOf); err != nil {
		return b, err
	}
	if b.files = b.theirs; b.inside.path != "" {
		if b.files, err = b.copied(b.inside); err != nil {
			return b, err
		}
	}
	if err := b.require(); err != nil {
		return b, err
	}
	return b, b.overlay()
}

// copied downloads a module and copies it.
func (b *build) copied(m module) (dir string, err error) {
	out, err := b.command(b.dir, "go", "mod", "download", "-json", m.path+"@"+m.version)
	if err != nil {
		return "", err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", err
	}
	dir = filepath.Join(b.dir, filepath.Base(downloaded.Dir))
	return dir, os.CopyFS(dir, os.DirFS(downloaded.Dir))
}

func (b *build) close() { os.RemoveAll(b.dir) }

// require makes a go.mod that is theirs, and requires us. Both sides use it: so they have the same dependencies.
func (b *build) require() error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(b.theirs, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.dir, name), text, 0o666); err != nil {
			return err
		}
	}
	const us = "github.com/bufslab/bufslab"
	edits := []string{"mod", "edit", "-toolchain=none", "-require=" + us + "@v0.0.0", "-replace=" + us + "=" + root}
	if b.inside.path != "" {
		edits = append(edits, "-require="+b.inside.path+"@"+b.inside.version, "-replace="+b.inside.path+"="+b.files)
	}
	_, err = b.command(b.dir, "go", append(edits, "go.mod")...)
	return err
}

// overlay writes what -overlay reads: which files of theirs are others, or none.
func (b *build) overlay() error {
	replace := map[string]string{}
	add := func(name string, text []byte) error {
		at := filepath.Join(b.dir, strings.ReplaceAll(name, "/", "-"))
		replace[filepath.Join(b.files, name)] = at
		return os.WriteFile(at, text, 0o666)
	}
	for _, name := range b.without {
		replace[filepath.Join(b.files, name)] = ""
	}
	for _, name := range b.changed() {
		text, err := b.change(name)
		if err == nil {
			err = add(name, text)
		}
		if err != nil {
			return err
		}
	}
	ours, err := texts.ReadFile(b.text + ".go.txt")
	if err == nil {
		err = add(b.into, ours)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "overlay.json"), text, 0o666)
}

// compile builds the tests of a package as a program, with theirs or with ours. With -trimpath the compiler's cache
// knows packages again, whose directory is another each time.
func (b *build) compile(s suite, ours bool) (program string, err error) {
	program = filepath.Join(b.dir, b.name+strings.NewReplacer("/", "-", ".", "-").Replace(s.pkg)+".theirs")
	args := []string{"test", "-c", "-vet=off", "-tags=" + b.tags, "-trimpath", "-mod=mod", "-modfile=" + filepath.Join(b.dir, "go.mod")}
	if ours {
		program = strings.TrimSuffix(program, "theirs") + "ours"
		args = append(args, "-overlay="+filepath.Join(b.dir, "overlay.json"))
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil // of another suite of this package
	}
	_, err = b.command(b.theirs, "go", append(args, "-o", program, s.pkg)...)
	return program, err
}

// command runs a command in a directory and returns its standard output.
func (b *build) command(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, b.environ()
	var errors bytes.Buffer
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %q: %w\n%s%s", name, args, err, errors.Bytes(), out)
	}
	return out, err
}

// environ has the toolchain that runs us: their go.mod may name another.
func (b *build) environ(more ...string) []string {
	return append(append(append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local"), b.env...), more...)
}
