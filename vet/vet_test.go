package vet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/bufslab/bufslab/vet"
)

// Each package has a kind of misuse, and beside it what is right.
func TestKinds(t *testing.T) {
	for _, pkg := range []string{"ended", "twice", "leak", "outlive", "grow", "ignored", "others", "helpers", "facts"} {
		t.Run(pkg, func(t *testing.T) {
			analysistest.Run(t, analysistest.TestData(), vet.Analyzer, pkg)
		})
	}
}

// Of the seeded mistakes most are found. The others are marked, and listed in README.md.
func TestSeeded(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), vet.Analyzer, "seeded")
	found, missed := count(t, "// want "), count(t, "// missed: ")
	if found < 17 || found < 3*missed || found+missed < 20 {
		t.Errorf("%d of %d seeded mistakes are found", found, found+missed)
	}
	t.Logf("%d of %d", found, found+missed)
}

// count counts the lines of the seeded programs that have a mark.
func count(t *testing.T, mark string) (n int) {
	files, err := filepath.Glob("testdata/src/seeded/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(string(text), mark)
	}
	return n
}
