package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
)

// Memory in quarantine is never handed out again, as somebody may still use it who has
// no right to. Its extents merge, and pages that they cover whole go back: out of the
// heap's bytes and out of every budget. Their addresses stay taken, and so does their
// segment: used counts them.

// Quarantine takes a used extent out of use for good. It takes both locks; the caller
// holds none.
func (h *Heap) Quarantine(i int32) {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.mu.Lock()
	h.unmapUsed(i)
	s, off, n := h.isolate(i)
	h.Unlock()
	h.giveUp(s, off, n)
	for rest := h.scrap(s); rest != none; rest = h.scrap(s) {
		h.release(rest)
	}
	if h.stopped {
		h.giveUpAddresses()
	}
}

// scrapShare of a segment, as a divisor, is not worth keeping when the rest is lost.
const scrapShare = 8

// scrap returns a free extent of a segment, no range, of which next to nothing is left;
// none if there is more.
func (h *Heap) scrap(s int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	seg := &h.segs[s]
	if seg.block.Region == nil || seg.rng != nil || seg.used > seg.isolated || int64(seg.block.Len)-seg.lost > int64(seg.block.Len/scrapShare) {
		return none
	}
	for i := h.top(s); i != none; i = h.at(i).prev {
		if h.at(i).state == free {
			return i
		}
	}
	return none
}

// releaseRest is Quarantine of a free extent of a segment, no range, that has nothing
// else but extents in quarantine: it can only go back as they do. It returns the bytes
// that went. The caller holds growMu.
func (h *Heap) releaseRest(i int32) int64 {
	h.mu.Lock()
	seg := &h.segs[h.at(i).seg]
	if h.at(i).state != free || seg.rng != nil || seg.isolated == 0 || seg.used > seg.isolated {
		h.mu.Unlock()
		return 0
	}
	h.unlist(h.at(i))
	seg.used++
	s, off, n := h.isolate(i)
	h.Unlock()
	return h.giveUp(s, off, n)
}

// isolate makes i, which is in no list and counts as used, a part of the quarantine. It
// returns the whole pages of its segment that are in there now and were not before. The
// caller holds the lock.
func (h *Heap) isolate(i int32) (s int32, off, n int) {
	x := h.at(i)
	h.isolated += int64(x.len)
	page := h.pageOf(x.seg)
	lo, hi := align.Up(x.off, page), align.Down(x.off+x.len, page)
	if p := h.at(x.prev); p.state == quarantined {
		lo = max(align.Up(p.off, page), align.Down(x.off, page))
	}
	if q := h.at(x.next); q.state == quarantined {
		hi = min(align.Down(q.off+q.len, page), align.Up(x.off+x.len, page))
	}
	s = x.seg
	from, to := x.off, x.off+x.len
	x = h.at(h.join(i))
	h.segs[s].pages.forget(max(x.off, from-leafBytes), min(x.off+x.len, to+leafBytes))
	return s, lo, max(0, hi-lo)
}

// join merges i with its neighbours in quarantine, and returns the whole.
func (h *Heap) join(i int32) int32 {
	x := h.at(i)
	x.state = quarantined
	seg := &h.segs[x.seg]
	seg.isolated++
	if n := x.next; h.at(n).state == quarantined {
		x.len += h.at(n).len
		h.forget(n)
		seg.used, seg.isolated = seg.used-1, seg.isolated-1
	}
	if p := h.at(i).prev; h.at(p).state == quarantined {
		h.at(p).len += h.at(i).len
		h.forget(i)
		seg.used, seg.isolated = seg.used-1, seg.isolated-1
		return p
	}
	return i
}

// pageOf returns the granularity in which pages of a segment go back.
func (h *Heap) pageOf(s int32) int {
	if r := h.segs[s].rng; r != nil {
		return r.Page()
	}
	return unit
}

// giveUp gives pages of segment s back for good, and returns the bytes that went. If they
// cannot go they stay where they are, of use to nobody. The caller holds growMu.
func (h *Heap) giveUp(s int32, off, n int) int64 {
	h.mu.Lock()
	seg := h.segs[s]
	h.mu.Unlock()
	if n == 0 || !h.sendPages(seg, device.Block{Region: seg.block.Region, Off: seg.block.Off + off, Len: n}) {
		return 0
	}
	h.mu.Lock()
	defer h.Unlock()
	h.managed -= int64(n)
	h.isolated -= int64(n)
	h.segs[s].lost += int64(n)
	if seg := &h.segs[s]; seg.rng == nil && seg.lost == int64(seg.block.Len) {
		h.removeSegment(s) // without a Free: its addresses stay taken
	}
	return int64(n)
}

// sendPages has pages of a segment go back for good.
func (h *Heap) sendPages(seg segment, pages device.Block) bool {
	if seg.rng == nil {
		return h.up.GiveUp(pages, int64(pages.Len))
	}
	q, ok := seg.block.Region.(device.Quarantiner)
	if !ok || seg.rng.Decommit(pages.Off, pages.Len) != nil {
		return false
	}
	_ = q.Quarantine(pages.Off, pages.Len) // the pages have gone; else a late reader finds zeros
	return true
}
