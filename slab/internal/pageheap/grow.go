package pageheap

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// lockedUnit is the least segment of page-locked memory, which has no head-room.
const lockedUnit = 64 << 10

// grow gets memory from upstream so that n bytes fit, or says why it cannot. On out of
// memory it asks for less, then gives back held memory, then fails. It takes growMu; the
// caller holds no lock.
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

// growOnce goes upstream once for n bytes, and for nothing beyond if exact. Where
// there are no addresses for a range it adds a segment. The caller holds growMu.
func (h *Heap) growOnce(n int, exact bool) error {
	if !exact {
		if h.needsBudget(n) {
			h.noteGets()
		}
		h.decommitBeforePeak(n)
	}
	p, err := h.place(n, exact)
	switch {
	case err == nil:
		return h.commit(p)
	case upstream.OutOfMemory(err), errors.Is(err, device.ErrUnavailable):
		return h.growBySegment(n, exact)
	}
	return err
}

// needsBudget reports whether growth by n bytes has to be affordable for the policy. On a lazy range
// it has to if n is a large part of the heap: see worthDecommitting. The caller holds growMu.
func (h *Heap) needsBudget(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current < 0 || h.room(h.current) < n || !h.isLazy(h.current) || int64(n) >= h.managed/lazyShare
}

// noteGets tells the policy the number of Gets, also of Gets that the owner served by itself. To ask
// the owner reads every class cache. The caller holds growMu.
func (h *Heap) noteGets() {
	if h.options.Gets == nil {
		return
	}
	n := h.options.Gets()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.policy.gets = n
}

// place picks a place for n bytes in the open ranges. It opens another range only if there is no
// place: addresses of open ranges are used up first.
func (h *Heap) place(n int, exact bool) (plan, error) {
	p, ok := h.plan(n, exact)
	if ok {
		return p, nil
	}
	if err := h.openRange(n); err != nil {
		return p, err
	}
	p, _ = h.plan(n, exact)
	return p, nil
}

// commit puts memory where p says: at the top of a range, or at decommitted addresses.
// The caller holds growMu.
func (h *Heap) commit(p plan) error {
	done := false
	defer func() { // also if upstream panics
		if !done {
			h.closeUnused(p)
		}
	}()
	called := p.off+p.len > upstream.Ready(p.rng)
	if err := p.rng.Commit(p.off, p.len); err != nil {
		return err
	}
	done = true
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.extent != none {
		h.front(p.extent, p.len)
		h.merge(p.extent, free)
	} else {
		end := h.segs[p.seg].end
		if gap := p.off - h.at(end).off; gap > 0 {
			h.appendTop(end, gap, decommitted)
		}
		h.appendTop(end, p.len, free)
	}
	h.managed += int64(p.len)
	h.policy.grewTo(h.managed, called, p.equal)
	return nil
}

// growBySegment adds a segment. If the heap would otherwise pass its old peak,
// wholly free segments go back first: each is too small for n, or it would have
// been used.
func (h *Heap) growBySegment(n int, exact bool) error {
	size := n
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
	h.appendTop(h.segs[s].end, size, free)
	whole := h.up.Footprint(b)
	h.excess += whole - int64(size)
	h.managed += whole
	h.policy.grewTo(h.managed, true, false)
	return nil
}

// segmentSize returns the size of a segment for n bytes, with its head-room, and the bytes by which
// the heap would pass its old peak with it, 0 if there was no peak. Free memory of other segments
// does not join with the new one, and does not count.
func (h *Heap) segmentSize(n int) (size int, over int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.options.Locked:
		size = h.mayHold(n, max(n, lockedUnit), h.unit())
	case n < largeBlock:
		size = h.step(n, 2*n, h.unit(), 0)
	default:
		more := min(h.step(n, 0, h.unit(), 0)-n, int(h.managed/largeShare))
		size = n * (1 + more/n)
	}
	if h.policy.high > 0 {
		over = h.managed + int64(size) - h.policy.high
	}
	return size, over
}
