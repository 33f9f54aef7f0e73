package pageheap

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// unit is the least that a segment grows by where the upstream does not say.
const unit = 4 << 10

// RangeBytes is what a range is asked to reserve, unless a block needs more.
// Addresses cost no memory, but all pools of a process share them, 128 TiB as
// a rule, with the Go heap: 128 GiB each leave room for hundreds of pools, and
// a pool that needs more opens another range.
const RangeBytes = min(1<<37, (uint64(maxInt)+1)>>5)

// rangeFor returns what to reserve so that n bytes fit, whatever the page is.
func rangeFor(n int) int { return max(int(RangeBytes), n+n/8+8<<20) }

// grow gets memory from upstream so that n bytes fit, or says why it cannot.
// On out of memory it wants less, then gives back what is held, then fails.
// It takes growMu; the caller holds no lock.
func (h *Heap) grow(n int) error {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	if h.fits(n) { // since the caller looked
		return nil
	}
	err := h.growOnce(n, false)
	if upstream.OutOfMemory(err) {
		err = h.growOnce(n, true)
	}
	if upstream.OutOfMemory(err) && h.releaseIdle(0) > 0 {
		err = h.growOnce(n, true)
	}
	return err
}

func (h *Heap) fits(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(free, n) != none
}

// growOnce goes upstream once for n bytes, and for nothing beyond if exact.
// The caller holds growMu.
func (h *Heap) growOnce(n int, exact bool) error {
	if !h.fixed {
		err := h.extendRange(n, exact)
		if !errors.Is(err, device.ErrUnavailable) {
			return err
		}
		h.fixed = true
	}
	return h.growBySegment(n, exact)
}

// extendRange commits memory at the top of the current range, or at decommitted
// addresses of any where that takes less. It opens another range only where
// neither will do: addresses of full ranges are used up first.
func (h *Heap) extendRange(n int, exact bool) error {
	p, ok := h.plan(n, exact)
	if !ok {
		if err := h.openRange(n); err != nil {
			return err
		}
		p, _ = h.plan(n, exact)
	}
	if err := p.rng.Commit(p.off, p.len); err != nil {
		h.closeUnused(p)
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.extent != none {
		h.recommit(p.extent, p.len)
	} else {
		h.extend(h.segs[h.current].end, p.len)
	}
	h.managed += int64(p.len)
	h.policy.called(h.managed)
	return nil
}

// recommit makes the first n bytes of a decommitted extent free memory.
func (h *Heap) recommit(i int32, n int) {
	h.unlist(i)
	if h.at(i).len > n {
		h.list(h.split(i, n), decommitted)
	}
	h.merge(i, free)
}

// closeUnused closes the range of a plan that failed if nothing was ever
// committed there: no extent of it would remind us to.
func (h *Heap) closeUnused(p plan) {
	if p.extent == none && h.removeUnused() {
		mustRelease(p.rng.Close())
	}
}

// removeUnused forgets the current range if it has no extent, and reports whether.
func (h *Heap) removeUnused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.top(h.current) != none {
		return false
	}
	h.removeSegment(h.current)
	return true
}

// openRange makes a range current that has n bytes of addresses left, a new
// one if need be.
func (h *Heap) openRange(n int) error {
	if h.switchRange(n) {
		return nil
	}
	r, err := h.up.Reserve(rangeFor(n))
	if err != nil {
		return err
	}
	if r.Region().Size() < n+r.Page() {
		return errors.Join(device.ErrOutOfMemory, r.Close())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = h.addSegment(segment{block: device.Block{Region: r.Region(), Len: r.Region().Size()}, rng: r})
	return nil
}

// switchRange makes an open range with n bytes of addresses left current, and
// reports whether there was one.
func (h *Heap) switchRange(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.segs {
		if h.segs[s].rng != nil && h.room(int32(s)) >= n {
			h.current = int32(s)
			return true
		}
	}
	return false
}

// step is the policy's, but for no more beyond need than may be held: that
// would have to go back at the next Free.
func (h *Heap) step(need, least, page int) int {
	n := h.policy.step(need, least, page, h.managed)
	if h.maxHeld > int64(n) {
		return n
	}
	return min(n, align.Up(need, page)+align.Down(int(h.maxHeld), page))
}

// growBySegment gets a region of its own. Wholly free segments go back first
// where the heap would otherwise pass its old peak: each of them is too small
// for n, or it would have been used.
func (h *Heap) growBySegment(n int, exact bool) error {
	size := align.Up(n, unit)
	if !exact {
		var over int64
		if size, over = h.segmentSize(n); over > 0 && h.releaseSegments(over) > 0 {
			size, _ = h.segmentSize(n)
		}
	}
	b, err := h.up.Alloc(size)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.addSegment(segment{block: b})
	h.extend(h.segs[s].end, size)
	whole := h.up.Footprint(b)
	h.excess += whole - int64(size)
	h.managed += whole
	h.policy.called(h.managed)
	return nil
}

// segmentSize returns the size of a new segment for n bytes, and how far the
// heap would pass its old peak with it, 0 if there was none.
func (h *Heap) segmentSize(n int) (size int, over int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size = h.step(n, 2*n, unit)
	if h.policy.high > 0 {
		over = h.managed + int64(size) - h.policy.high
	}
	return size, over
}
