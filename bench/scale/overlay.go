//go:build unix

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is the text of a package whose Mutex counts. Package slab cannot import what belongs to this module, so the
// source becomes a package below slab.
//
//go:embed counting/counting.go
var source []byte

// builds are the two programs with the locks that count.
type builds struct{ programs, churn string }

// build builds both in dir, of the module in root.
func build(dir, root string) (b builds, err error) {
	b = builds{filepath.Join(dir, "programs"), filepath.Join(dir, "churn")}
	overlay, err := replaceLocks(dir, root)
	if err != nil {
		return b, err
	}
	for path, to := range map[string]string{"./programs": b.programs, "./scale": b.churn} {
		if err := compile(overlay, to, path); err != nil {
			return b, err
		}
	}
	return b, nil
}

func compile(overlay, to, path string) error {
	text, err := exec.Command("go", "build", "-overlay", overlay, "-o", to, path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// replaceLocks writes to dir the files of package slab and below it that have a sync.Mutex, with one that counts
// instead, and the list of them that go build -overlay takes, whose name it returns.
func replaceLocks(dir, root string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	put := func(path string, text []byte) error {
		to := filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		replace[path] = to
		return os.WriteFile(to, text, 0o600)
	}
	err = filepath.WalkDir(filepath.Join(root, "slab"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("sync.Mutex")) {
			return err
		}
		return put(path, withCounting(text))
	})
	if err == nil {
		err = put(filepath.Join(root, "slab", "internal", "counting", "counting.go"), source)
	}
	if err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

// withCounting returns a file whose mutexes count. Its lines keep their numbers.
func withCounting(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("sync.Mutex"), []byte("counting.Mutex"))
	text = bytes.Replace(text, []byte("\nimport"),
		[]byte("\nimport \"github.com/bufslab/bufslab/slab/internal/counting\"; import"), 1)
	return append(text, "\nvar _ sync.Locker // package sync may have no other use now\n"...)
}
