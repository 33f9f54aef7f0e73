package slab

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A size beyond the classes gets nothing that is held: here a byte, for which
// there was no room to make it part of a slab.
func TestSizesWithoutAClassStandApart(t *testing.T) {
	for _, name := range []string{"bitlog", "sizeclass"} {
		d, err := device.Open("virtual:100")
		if err != nil {
			t.Fatal(err)
		}
		a := newStrategy(d, Config{Strategy: name}.withDefaults())
		b, err := a.Alloc(1)
		if err != nil {
			t.Fatal(err)
		}
		a.Free(b)
		if b, err := a.Alloc(maxAsk); !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("%s: Alloc of %d bytes: %+v, %v", name, maxAsk, b, err)
		}
	}
}
