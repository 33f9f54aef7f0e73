package pin

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func TestPinDoesNotAllocate(t *testing.T) {
	if n := check.Allocs(1000, func() { Unpin(Pin()) }); n > 0.1 {
		t.Fatalf("%v allocations", n)
	}
}
