package pageheap

import (
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A block that had to move as it grew will grow again, and so may the block below it. So it
// gets a place with room on both sides: within the largest free extent, in the middle at
// most, or apart from all other blocks of a range. All other blocks may still use the free
// memory and the addresses there.
const (
	roomyTimes = 16 // the free extent, or the range, has at least this many times the block
	// at most this many times the block stay free below it; the range has this many times in addresses,
	roomyRange = 1024
	mostRange  = 128 << 20 // but no more than mostRange, unless roomyTimes is more
	// addresses below the block: half of the rest, but no more than mostGap or four times the block
	mostGap = 64 << 20
)

// AllocRoomy is Alloc at such a place, or none: it gives no memory back to find a place. The
// caller holds the lock, which is given back while the heap goes upstream.
func (h *Heap) AllocRoomy(size int) int32 {
	n := align.Up(size, h.align)
	i := h.middle(n)
	if i == none && !h.hasRoom(n, n) {
		i = h.apart(n)
	}
	if i == none {
		return none
	}
	return h.take(i, n, size)
}

// middle returns a free extent: the upper part of the largest one, or all of it if no block
// below grows into it; none if the largest has no room to spare.
func (h *Heap) middle(n int) int32 {
	i := h.largest(free)
	if i == none || h.at(i).len/roomyTimes < n {
		return none
	}
	if below := h.at(i).prev; below == none || h.at(below).state != used {
		return i
	}
	most := roomyRange * min(n, upstream.MaxSize/roomyRange) // roomyRange * n may be no int
	return h.cut(i, align.Down(min(h.at(i).len/2, most), h.align))
}

// apart returns a free extent of n bytes far above all other extents of its range, or none. The
// caller holds the lock, which is given back meanwhile.
func (h *Heap) apart(n int) int32 {
	s := int32(none)
	err := h.unlocked(func() (err error) { s, err = h.growApart(n); return err })
	if err != nil {
		return none
	}
	if i := h.top(s); h.freeLen(i) >= n {
		return i
	}
	return none // somebody was quicker
}

// growApart commits n bytes, or a first step, in a range with many addresses left, a new range
// if need be. It returns the segment.
func (h *Heap) growApart(n int) (int32, error) {
	if n > upstream.MaxSize/roomyRange {
		return 0, errNoneAfter
	}
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.noteGets()
	h.makeGood(n, none)
	if err := h.openRange(max(roomyTimes*n, min(roomyRange*n, mostRange), 2*firstStep)); err != nil {
		return 0, err
	}
	p := h.planApart(n)
	if p.rng.Page() > firstStep {
		h.closeUnused(p)
		return 0, errNoneAfter
	}
	return p.seg, h.commit(p)
}

// planApart is the plan of growApart: above addresses that the block below may grow into.
func (h *Heap) planApart(n int) plan {
	h.mu.Lock()
	defer h.mu.Unlock()
	seg := &h.segs[h.current]
	page := seg.rng.Page()
	p := plan{rng: seg.rng, seg: h.current, len: align.Up(max(n, firstStep), page)}
	if h.top(h.current) != none {
		p.off = h.at(seg.end).off + align.Down(min(h.room(h.current)/2, max(mostGap, 4*n)), page)
	}
	return p
}
