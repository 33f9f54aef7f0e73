package vet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/bufslab/bufslab/vet"
)

// Each package has a kind of misuse, and beside it what is right. What package missed has is not found, as README.md says.
func TestKinds(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), vet.Analyzer, "ended", "twice", "leak", "outlive", "grow", "ignored",
		"others", "helpers", "facts", "forgets", "kept", "loop", "missed", "sometimes", "variables", "calls", "ways", "given")
}
