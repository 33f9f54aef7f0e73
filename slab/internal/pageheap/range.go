package pageheap

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// firstRange is what the first range of a heap reserves, unless a block needs more.
const firstRange = 64 << 20

// rangeTimes is how many times as much a new range has: as the block that it is for, and as
// all ranges before it.
const rangeTimes = 8

// rangeFor returns what to reserve so that n bytes fit, whatever the page is.
// Addresses cost no memory, but all pools of a process share them with the Go heap.
// So a heap begins with few: many small pools need few, and a large one has few
// ranges all the same. The caller holds mu.
func (h *Heap) rangeFor(n int) int {
	before := 0
	for s := range h.segs {
		if r := h.segs[s].rng; r != nil {
			before = min(before+r.Region().Size(), upstream.MaxSize)
		}
	}
	return max(firstRange, rangeTimes*min(max(n, before, h.expected), upstream.MaxSize/rangeTimes), n+n/8+8<<20)
}

// openRange makes a range current that has n bytes of addresses left, a new
// one if need be.
func (h *Heap) openRange(n int) error {
	size, ok := h.switchRange(n)
	if ok {
		return nil
	}
	r, err := h.up.Reserve(size)
	if err != nil {
		return err
	}
	if r.Region().Size() < n+r.Page() {
		return errors.Join(device.ErrUnavailable, r.Close())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = h.addSegment(segment{block: device.Block{Region: r.Region(), Len: r.Region().Size()}, rng: r})
	return nil
}

// switchRange makes an open range with n bytes of addresses left current. It
// reports whether there was one, and else what to reserve.
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

// closeUnused closes the range of a plan that failed if nothing was ever
// committed there: no extent of it would remind us to. If that fails its addresses
// stay, which costs no memory.
func (h *Heap) closeUnused(p plan) {
	if p.extent == none && h.removeUnused(p.seg) {
		_ = p.rng.Close()
	}
}

// removeUnused forgets range s if it has no extent, and reports whether.
func (h *Heap) removeUnused(s int32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.top(s) != none {
		return false
	}
	h.removeSegment(s)
	return true
}

// giveUpAddresses gives up the addresses above the memory of each range, as a block that is
// never released would keep them for ever, and between blocks where all are in quarantine.
// If that fails they stay: a cost, not a fault. The caller holds growMu.
func (h *Heap) giveUpAddresses() {
	for s := range h.segs {
		if h.segs[s].rng == nil {
			continue
		}
		if r, ok := h.segs[s].rng.Region().(device.Shrinker); ok {
			edge := h.edge(int32(s))
			if n := h.segs[s].rng.Region().Size() - edge; n > 0 {
				_ = r.GiveUp(edge, n)
			}
			for off, n := h.abandon(int32(s)); n > 0; off, n = h.abandon(int32(s)) {
				_ = r.GiveUp(off, n)
			}
		}
	}
}

// abandon makes a decommitted extent of range s, which has no used ones but those in
// quarantine, a part of that. It returns where it was, and no bytes if there is none.
func (h *Heap) abandon(s int32) (off, n int) {
	h.mu.Lock()
	defer h.Unlock()
	seg := &h.segs[s]
	if seg.isolated == 0 || seg.used > seg.isolated {
		return 0, 0
	}
	for i := h.top(s); i != none; i = h.at(i).prev {
		if x := h.at(i); x.state == decommitted {
			off, n = x.off, x.len
			h.unlist(h.at(i))
			seg.used++
			h.isolated -= int64(n) // there is no memory behind it
			seg.lost += int64(n)
			h.isolate(i, false)
			break
		}
	}
	return off, n
}

// edge returns the end of the memory of segment s.
func (h *Heap) edge(s int32) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(h.segs[s].end).off
}
