package pageheap

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// firstRange is the number of bytes that the first range of a heap reserves, unless a block needs more.
const firstRange = 64 << 20

// A new range has rangeTimes as many addresses as the block that it is for, and as all earlier
// ranges.
const rangeTimes = 8

var errNoneAfter = fmt.Errorf("slab: no room after an extent: %w", device.ErrUnavailable)

// rangeFor returns the addresses to reserve so that n bytes fit, for any page size.
// Addresses cost no memory, but all pools of a process share them with the Go heap.
// So a heap begins with few: many small pools need few, and a large pool still has few
// ranges. The caller holds mu.
func (h *Heap) rangeFor(n int) int {
	before := 0
	for s := range h.segs {
		if r := h.segs[s].rng; r != nil {
			before = min(before+r.Region().Size(), upstream.MaxSize)
		}
	}
	return max(firstRange, rangeTimes*min(max(n, before), upstream.MaxSize/rangeTimes), n+n/8)
}

// openRange makes a range with n bytes of addresses left current, a new range if
// need be.
func (h *Heap) openRange(n int) error {
	size, ok := h.switchRange(n)
	if ok {
		return nil
	}
	r, err := h.up.Reserve(size)
	if err != nil {
		return err
	}
	if h.options.Align > r.Page() {
		r = coarseRange{r, h.options.Align}
	}
	if r.Region().Size() < n+r.Page() {
		return errors.Join(device.ErrUnavailable, r.Close())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = h.addSegment(segment{block: device.Block{Region: r.Region(), Len: r.Region().Size()}, rng: r})
	return nil
}

// switchRange makes an open range with n bytes of addresses left current. If there
// is none it returns the addresses to reserve.
func (h *Heap) switchRange(n int) (reserve int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.segs {
		if h.segs[s].rng != nil && h.room(int32(s)) >= n {
			h.current = int32(s)
			return 0, true
		}
	}
	return h.rangeFor(n), false
}

// closeUnused closes the range of a plan that failed, if no memory was ever
// committed there: later no extent would make us close it. If that fails its
// addresses stay, which costs no memory.
func (h *Heap) closeUnused(p plan) {
	if p.extent == none && h.removeUnused(p.seg) {
		_ = p.rng.Close()
	}
}

// removeUnused forgets range s if it has no extent, and reports whether it did.
func (h *Heap) removeUnused(s int32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.top(s) != none {
		return false
	}
	h.removeSegment(s)
	return true
}

// A coarseRange has larger pages than its device: extents are multiples of the alignment of blocks.
type coarseRange struct {
	device.Range
	page int
}

func (r coarseRange) Page() int { return r.page }

func (r coarseRange) Ready() int { return upstream.Ready(r.Range) }
