package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// An asked is an upstream that notes what it is asked for.
type asked struct {
	device.Allocator
	sizes []int
}

func (a *asked) Alloc(size int) (device.Block, error) {
	a.sizes = append(a.sizes, size)
	return a.Allocator.Alloc(size)
}

// Segments of small blocks are whole units, in which their pages go back: 4 KiB, or the alignment of blocks.
func TestSegmentsAreWholeUnits(t *testing.T) {
	for _, align := range []int{0, 64 << 10} {
		up := &asked{Allocator: on(new(pages), true)}
		p := start(up, Options{Align: align})
		for range 50 {
			p.mustAlloc(t, 70_001)
		}
		for _, n := range up.sizes {
			if n%max(align, 4<<10) != 0 {
				t.Errorf("with an alignment of %d, segments of %v bytes", align, up.sizes)
				break
			}
		}
		if len(up.sizes) < 2 {
			t.Errorf("%d segments", len(up.sizes))
		}
	}
}
