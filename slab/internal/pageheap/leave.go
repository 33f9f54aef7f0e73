package pageheap

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
)

// A departure is memory on its way upstream: pages of a range, or a whole segment. Its
// extents are leaving meanwhile: no call gets them or merges with them. If the upstream
// does not take the memory, by an error or a panic, the memory is free again. That is a
// cost, never a fault.
type departure struct {
	segment
	seg    int32
	pages  int32 // the extent; none: the whole segment
	off    int   // of the extent
	bytes  int64 // no longer managed
	excess int64 // of them
}

// detach takes the part of extent i that can go upstream, if i is still free, out of the heap's hands. It
// reports whether there is such a part. At most n bytes go, from the end.
func (h *Heap) detach(i int32, n int) (d departure, ok bool) {
	h.mu.Lock()
	defer h.Unlock()
	if h.at(i).state != free {
		return d, false
	}
	s := h.at(i).seg
	seg := &h.segs[s]
	switch {
	case seg.used == 0 && int64(n) >= h.committed(s):
		return h.detachSegment(s), true
	case seg.rng != nil:
		return h.detachPages(i, n)
	}
	return d, false
}

// detachSegment detaches a segment without used extents. The caller holds mu.
func (h *Heap) detachSegment(s int32) departure {
	d := departure{segment: h.segs[s], seg: s, bytes: h.committed(s)}
	if d.rng == nil {
		whole := h.up.Footprint(d.block)
		d.bytes, d.excess = whole, whole-d.bytes
	}
	for i := h.top(s); i != none; i = h.at(i).prev {
		if h.at(i).state == free {
			h.unlist(h.at(i))
			h.at(i).state = leaving
		}
	}
	h.managed -= d.bytes
	h.excess -= d.excess
	return d
}

// detachPages detaches the whole pages within the free extent i of a range, n bytes at most.
// The caller holds mu.
func (h *Heap) detachPages(i int32, n int) (d departure, ok bool) {
	x := *h.at(i)
	page := h.segs[x.seg].rng.Page()
	lo, hi := align.Up(x.off, page), align.Down(x.off+x.len, page)
	lo = max(lo, hi-align.Down(n, page))
	if hi <= lo {
		return d, false
	}
	if lo > x.off {
		i = h.cut(i, lo-x.off)
	}
	h.front(i, hi-lo)
	h.at(i).state = leaving
	h.managed -= int64(hi - lo)
	return departure{segment: h.segs[x.seg], seg: x.seg, pages: i, off: lo, bytes: int64(hi - lo)}, true
}

// send gives d to the upstream, and reports whether the upstream took it. The caller
// holds growMu.
func (h *Heap) send(d departure) (gone bool) {
	defer func() { // also if upstream panics
		h.mu.Lock()
		defer h.Unlock()
		h.settle(d, gone)
	}()
	return h.giveBack(d)
}

// giveBack goes upstream. Memory of a lost device counts as gone.
func (h *Heap) giveBack(d departure) bool {
	var err error
	switch {
	case d.rng == nil:
		h.up.Free(d.block)
	case d.pages == none:
		err = d.rng.Close()
	default:
		err = d.rng.Decommit(d.off, int(d.bytes))
	}
	return err == nil || errors.Is(err, device.ErrDeviceLost)
}

// settle ends a departure. The caller holds mu.
func (h *Heap) settle(d departure, gone bool) {
	switch {
	case !gone:
		h.stay(d)
	case d.pages == none:
		h.removeSegment(d.seg)
	default:
		h.vacate(d.pages)
	}
}

// vacate turns extent i, which has left, into addresses without memory. If it is the top of
// the segment, the end of the segment moves down.
func (h *Heap) vacate(i int32) {
	i = h.merge(i, decommitted)
	if e := h.segs[h.at(i).seg].end; h.at(i).next == e {
		h.at(e).off = h.at(i).off
		h.unlist(h.at(i))
		h.forget(i)
	}
}

// stay makes memory that could not leave free again.
func (h *Heap) stay(d departure) {
	h.managed += d.bytes
	h.excess += d.excess
	if d.pages != none {
		h.merge(d.pages, free)
		return
	}
	for i := h.top(d.seg); i != none; i = h.at(i).prev {
		if h.at(i).state == leaving {
			h.merge(i, free)
		}
	}
}
