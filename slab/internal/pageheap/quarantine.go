package pageheap

import "github.com/bufslab/bufslab/device"

// Memory in quarantine is never handed out again, as somebody may still use it who has
// no right to. Its extents merge, and pages that they cover whole go back: out of the
// heap's bytes and out of every budget. So do pages that they share with free memory alone:
// see strand.go. Their addresses stay taken, and so does their segment: used counts them.

// Quarantine takes a used extent out of use for good. It takes both locks; the caller
// holds none.
func (h *Heap) Quarantine(i int32) {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.mu.Lock()
	h.unmapUsed(i)
	s, off, n := h.isolate(i, false)
	h.Unlock()
	h.giveUp(s, off, n)
	for rest := h.scrap(s); rest != none; rest = h.scrap(s) {
		h.release(rest)
	}
	if h.stopped {
		h.releaseIdle(0)
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
	if h.at(i).state != free || seg.rng != nil || seg.isolated == 0 || seg.used > seg.isolated || !seg.givesUp() {
		h.mu.Unlock()
		return 0
	}
	s, off, n := h.isolate(h.seize(i, 0, maxInt), true)
	h.Unlock()
	return h.giveUp(s, off, n)
}

// isolate makes i, which is in no list and counts as used, a part of the quarantine, with what
// is free beside it on pages that have nothing else: see unused. It returns the pages that go for
// good. The caller holds the lock.
func (h *Heap) isolate(i int32, all bool) (s int32, off, n int) {
	x := h.at(i)
	from, to := x.off, x.off+x.len
	s = x.seg
	lo, hi := h.unused(i, all)
	i = h.join(i)
	for lo < hi && h.at(i).off > lo {
		i = h.join(h.seize(h.at(i).prev, lo, hi))
	}
	for x = h.at(i); lo < hi && h.at(x.next).state == free && x.off+x.len < hi; x = h.at(i) {
		i = h.join(h.seize(x.next, lo, hi))
	}
	h.segs[s].pages.forget(max(x.off, from-leafBytes), min(x.off+x.len, to+leafBytes))
	return s, lo, max(0, hi-lo)
}

// join puts i into quarantine, merges it with its neighbours there, and returns the whole.
func (h *Heap) join(i int32) int32 {
	x := h.at(i)
	x.state = quarantined
	h.isolated += int64(x.len)
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
	beyond := max(0, off+n-seg.block.Len) // of the region
	h.managed -= int64(n)
	h.excess -= int64(beyond)
	h.isolated -= int64(n - beyond)
	h.segs[s].lost += int64(n - beyond)
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
