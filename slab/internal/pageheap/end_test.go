package pageheap

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// The number of a span is gone with its extent.
func TestASpanLastsUntilFree(t *testing.T) {
	p := start(&pages{RangeBytes: 64 * page}, Options{})
	p.Lock()
	defer p.Unlock()
	for range 2 {
		i, err := p.Heap.Alloc(100)
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Span(i); n != 0 {
			t.Errorf("a new extent has span %d", n)
		}
		p.SetSpan(i, 7)
		if n := p.Span(i); n != 7 {
			t.Errorf("span %d", n)
		}
		p.Heap.Free(i)
	}
}

// What a lost device does not take back is gone all the same, and managed no more.
func TestALostDeviceTakesEverything(t *testing.T) {
	up := &pages{RangeBytes: 64 * page}
	p := start(up, Options{})
	live := fill(t, p, 20)
	up.Fail = fmt.Errorf("gone: %w", device.ErrDeviceLost)
	p.freeAll(live)
	if p.FreeHeld(); p.managed != 0 || p.index[free].bytes != 0 {
		t.Errorf("%d bytes managed, %d free", p.managed, p.index[free].bytes)
	}
}
