package upstream

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A keeper is a layer that holds memory, and does not trim.
type keeper struct {
	upstreamtest.Pages
	over device.Allocator

	freed, stopped int
}

func (k *keeper) FreeHeld()                { k.freed++ }
func (k *keeper) StopHolding()             { k.stopped++ }
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

// A through passes blocks through as they are.
type through struct{ device.Allocator }

func (p through) Unwrap() device.Allocator { return p.Allocator }

// What a wrapper passes on is that of the nearest layer that has it, however many are above that; where none has it,
// nothing happens.
func TestTheNearestLayerIsAsked(t *testing.T) {
	below := new(keeper)
	near := &keeper{over: below}
	f := ForwardTo(through{through{near}})
	f.FreeHeld()
	f.StopHolding()
	Shrink(f.to, 1)
	if near.freed != 2 || near.stopped != 1 || below.freed+below.stopped != 0 {
		t.Errorf("%d and %d calls, of the layer below %d and %d", near.freed, near.stopped, below.freed, below.stopped)
	}
	if k, ok := LayerOf[*keeper](f.to); !ok || k != near {
		t.Errorf("%v is the nearest keeper: %p, not %p", ok, k, near)
	}
	f = ForwardTo(through{new(upstreamtest.Fixed)})
	f.FreeHeld()
	f.StopHolding()
	Shrink(f.to, 1)
	if k, ok := LayerOf[*keeper](f.to); ok {
		t.Errorf("a keeper where there is none: %p", k)
	}
	if n, u := f.Trim(0), f.Usage(); n != 0 || u != (device.Usage{}) {
		t.Errorf("%d bytes trimmed, %+v", n, u)
	}
}
