package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
)

// A page that quarantine shares with free memory alone is of use to nobody: it cannot go back as
// free pages do. So it goes back as quarantine does, and what was free there is lost with it.
// When a used extent goes into quarantine this is done at once, but not to free memory that has
// whole pages: that is of use still, and would be too short for the next block of its size. When
// one is freed beside quarantine it is not looked at. What is left is done by releaseEdges when
// free memory is to go back, which is before a Get fails. After FreeHeld no such page is left.

// unused returns the pages that extent i covers with what is free or in quarantine beside it:
// those that it begins and ends in, if nobody uses them, and all between. There are none where hi
// is not above lo. Unless all, memory counts as used that has whole free pages. The caller holds
// the lock.
func (h *Heap) unused(i int32, all bool) (lo, hi int) {
	x := h.at(i)
	page := h.pageOf(x.seg)
	lo, hi = align.Down(x.off, page), align.Up(x.off+x.len, page)
	bottom, top := x.off, x.off+x.len
	for p := x.prev; bottom > lo && h.isLost(p, all); p = h.at(p).prev {
		bottom = h.at(p).off
	}
	for n := x.next; top < hi && h.isLost(n, all); n = h.at(n).next {
		top = h.at(n).off + h.at(n).len
	}
	lo = align.Up(max(bottom, lo), page)
	if seg := &h.segs[x.seg]; seg.rng == nil && lo < top && top == seg.block.Len && top <= hi && h.up.OwnsRegions() {
		return lo, seg.block.Region.Size() // which may be more than was asked for
	}
	return lo, align.Down(min(top, hi), page)
}

// isLost reports whether extent i is in quarantine, or may be lost to quarantine beside it.
// Where pages cannot be given up no free memory is.
func (h *Heap) isLost(i int32, all bool) bool {
	x := h.at(i)
	if x.state != free {
		return x.state == quarantined
	}
	page := h.pageOf(x.seg)
	return h.segs[x.seg].givesUp() && (all || align.Up(x.off, page) >= align.Down(x.off+x.len, page))
}

// givesUp reports whether pages of the segment can go back for good.
func (s *segment) givesUp() bool {
	_, ok := s.block.Region.(device.Quarantiner)
	return ok
}

// pageOf returns the granularity in which pages of a segment go back.
func (h *Heap) pageOf(s int32) int {
	if r := h.segs[s].rng; r != nil {
		return r.Page()
	}
	return unit
}

// seize takes what the free extent i has of [lo, hi) out of the index, counts it as used, and
// returns it. The rest is i still, where there is one on one side only.
func (h *Heap) seize(i int32, lo, hi int) int32 {
	x := h.at(i)
	h.unlist(x)
	h.segs[x.seg].used++
	if x.off < lo {
		upper := h.split(i, lo-x.off)
		h.list(i, free)
		i = upper
	}
	if x = h.at(i); x.off+x.len > hi {
		rest := i
		i = h.splitFront(i, hi-x.off)
		h.list(rest, free)
	}
	return i
}

// releaseEdges gives up the pages in which the free extent i meets quarantine, if nobody uses
// them. It returns the bytes. The caller holds growMu.
func (h *Heap) releaseEdges(i int32) (bytes int64) {
	for s, off, n := h.seizeEdge(i); n > 0; s, off, n = h.seizeEdge(i) {
		bytes += h.giveUp(s, off, n)
	}
	return bytes
}

// seizeEdge puts what the free extent i has of such a page into quarantine, and returns the page
// as isolate does; no bytes if there is none.
func (h *Heap) seizeEdge(i int32) (s int32, off, n int) {
	h.mu.Lock()
	defer h.Unlock()
	x := h.at(i)
	if x.state != free || !h.segs[x.seg].givesUp() {
		return 0, 0, 0
	}
	page := h.pageOf(x.seg)
	lo, hi := h.unused(i, true)
	switch {
	case hi <= lo:
	case lo < x.off:
		return h.isolate(h.seize(i, lo, lo+page), true)
	case hi > x.off+x.len && h.at(x.next).state == quarantined:
		return h.isolate(h.seize(i, align.Down(x.off+x.len, page), hi), true)
	}
	return 0, 0, 0
}
