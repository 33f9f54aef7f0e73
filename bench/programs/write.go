package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// Pages that have tables of ours, from the root of the repository.
const (
	documentation = "docs/benchmarks.md"
	readme        = "README.md"
	place         = "programs"
)

// write puts the tables between the comments of both pages.
func (t table) write() error {
	root, err := root()
	if err != nil {
		return err
	}
	return errors.Join(report.Replace(filepath.Join(root, documentation), place, t.String()),
		report.Replace(filepath.Join(root, readme), place, t.readme()))
}

// root is the next directory upwards that has the documentation: the command may run in its
// own directory or in the module's.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, documentation)); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no directory upwards has a %s", documentation)
		}
		dir = parent
	}
}
