package upstream

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A keeper is a layer that holds memory, and does not trim.
type keeper struct {
	upstreamtest.Pages
	over  device.Allocator
	freed int
}

func (k *keeper) FreeHeld()                { k.freed++ }
func (k *keeper) StopHolding()             {}
func (k *keeper) Unwrap() device.Allocator { return k.over }

// Trim is that of the nearest layer: one that only holds memory hides those below.
func TestTrimIsOfTheNearestLayer(t *testing.T) {
	below := new(keeper)
	near := &keeper{over: below}
	f := ForwardTo(near)
	if n := f.Trim(1); n != 0 || near.freed != 0 {
		t.Errorf("Trim(1) has %d bytes, and %d calls of FreeHeld", n, near.freed)
	}
	if n := f.Trim(0); n != 0 || near.freed != 1 || below.freed != 0 {
		t.Errorf("Trim(0) has %d bytes, %d calls of FreeHeld, %d of the layer below", n, near.freed, below.freed)
	}
}
