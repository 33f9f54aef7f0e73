package pageheap

// Memory in quarantine is never handed out again, as a forgotten slice may still be in use.
// Its extents merge, and pages that they cover whole go back, out of the heap's bytes and out
// of every budget. So do pages that they share only with free memory: see strand.go. The
// addresses stay taken, and so does their segment: used counts the extents.

// Quarantine takes a used extent out of use for good. It takes both locks; the caller
// holds none.
func (h *Heap) Quarantine(i int32) {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	l := h.lose(i, (*memory).isolateUsed)
	h.giveUp(l)
	for rest := h.scrap(l.seg); rest != none; rest = h.scrap(l.seg) {
		h.release(rest)
	}
	if h.stopped {
		h.releaseIdle(0)
		h.giveUpAddresses()
	}
}

// If all but scrapShare of a segment, as a divisor, is lost, the rest is not worth keeping.
const scrapShare = 8

// scrap returns a free extent of a segment, no range, if next to nothing else is left of
// the segment; else none.
func (h *Heap) scrap(s int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	seg := &h.segs[s]
	if seg.rng != nil || !seg.onlyLost() || int64(seg.block.Len)-seg.lost > int64(seg.block.Len/scrapShare) {
		return none
	}
	for i := h.top(s); i != none; i = h.at(i).prev {
		if h.at(i).state == free {
			return i
		}
	}
	return none
}
