package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// ranges counts the ranges that are open.
type ranges struct {
	device.Device
	open int
}

type countedRange struct {
	device.Range
	of *ranges
}

func (r *ranges) Reserve(size int) (device.Range, error) {
	g, err := reserveOf(r.Device, size)
	if err != nil {
		return nil, err
	}
	r.open++
	return countedRange{g, r}, nil
}

func (g countedRange) Close() error { g.of.open--; return g.Range.Close() }

// Addresses that no memory was to be had for go back like memory.
func TestRangeWithoutMemoryIsClosed(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		d, err := device.Open("virtual:100")
		if err != nil {
			t.Fatal(err)
		}
		r := &ranges{Device: d}
		a := newStrategy(r, Config{Strategy: name}.withDefaults())
		if _, err := a.Alloc(10); !outOfMemory(err) {
			t.Fatal(err)
		}
		a.(Holder).FreeHeld()
		if r.open != 0 {
			t.Errorf("%s: %d ranges are open, and nothing is out", name, r.open)
		}
	}
}
