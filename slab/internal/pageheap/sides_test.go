package pageheap

import "testing"

// Processor 1 cuts large blocks from the upper end of a free extent, the others and small ones are cut from
// the front; and what came back on one processor serves it again.
func TestProcessorsHaveSides(t *testing.T) {
	processor := 0
	p := start(&pages{RangeBytes: 64 * mib}, Options{Processor: func() int { return processor }})
	p.free(p.mustAlloc(t, 8*mib)) // the extent that all are cut from
	for _, c := range []struct{ processor, size, want int }{
		{0, mib, 0},
		{1, mib, 7 * mib},
		{1, sidedFrom, 7*mib - sidedFrom},
		{2, mib, mib},
		{1, sidedFrom - page, 2 * mib},
		{3, mib, 6*mib - sidedFrom},
	} {
		processor = c.processor
		if b := p.mustAlloc(t, c.size); b.Off != c.want {
			t.Errorf("processor %d has %d bytes at %d, want %d", c.processor, c.size, b.Off, c.want)
		}
	}
}

// An extent of just the size has one side.
func TestAnExtentOfTheSizeIsTakenWhole(t *testing.T) {
	p := start(&pages{RangeBytes: 64 * mib}, Options{Processor: func() int { return 1 }})
	p.free(p.mustAlloc(t, mib))
	if b := p.mustAlloc(t, mib); b.Off != 0 || p.managed != mib {
		t.Errorf("a block at %d of %d bytes", b.Off, p.managed)
	}
}
