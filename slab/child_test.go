package slab

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// inChild runs the test again in a process of its own, where it returns true.
func inChild(t *testing.T, env ...string) bool {
	t.Helper()
	return check.InChild(t, env...)
}
