package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A size beyond the bins gets nothing that is held.
func TestBitlogKeepsSizesWithoutABinApart(t *testing.T) {
	d, err := device.Open("virtual")
	if err != nil {
		t.Fatal(err)
	}
	a := NewBitlog(d, Config{})
	b, err := a.Alloc(1)
	if err != nil {
		t.Fatal(err)
	}
	a.Free(b)
	if b, err := a.Alloc(maxAsk); err == nil && b.Region.Size() < maxAsk {
		t.Errorf("Alloc of %d bytes gave a region of %d", maxAsk, b.Region.Size())
	}
}
