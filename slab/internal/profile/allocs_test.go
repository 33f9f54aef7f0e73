//go:build !asan

package profile

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// The next sample of a stack that is kept allocates nothing.
func TestSamplesOfAStackDoNotAllocate(t *testing.T) {
	var p Profile
	stack := &Stack{1, 2}
	if n := check.Allocs(1000, func() { p.Add(1, stack, 10, 1); p.Remove(1) }); n != 0 {
		t.Errorf("%f allocations", n)
	}
}
