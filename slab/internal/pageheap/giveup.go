package pageheap

import "github.com/bufslab/bufslab/device"

// giveUp gives pages back for good, and returns the bytes that went. Pages that cannot go stay where
// they are, unusable. The caller holds growMu.
func (h *Heap) giveUp(l loss) int64 {
	if l.n == 0 || !h.sendPages(l) {
		return 0
	}
	h.mu.Lock()
	defer h.Unlock()
	beyond := max(0, l.off+l.n-l.block.Len) // of the region
	h.managed -= int64(l.n)
	h.excess -= int64(beyond)
	h.isolated -= int64(l.n - beyond)
	seg := &h.segs[l.seg]
	seg.lost += int64(l.n - beyond)
	if seg.rng == nil && seg.lost == int64(seg.block.Len) {
		h.removeSegment(l.seg) // without a Free: its addresses stay taken
	}
	return int64(l.n)
}

func (h *Heap) sendPages(l loss) bool {
	if l.rng == nil {
		return h.up.GiveUp(device.Block{Region: l.block.Region, Off: l.block.Off + l.off, Len: l.n}, int64(l.n))
	}
	q, ok := l.block.Region.(device.Quarantiner)
	if !ok || l.rng.Decommit(l.off, l.n) != nil {
		return false
	}
	_ = q.Quarantine(l.off, l.n) // the pages have gone; else a late reader finds zeros
	return true
}

// releaseEdges gives up the pages that the free extent i shares with quarantine, if no used extent
// is on them. It returns the bytes. The caller holds growMu.
func (h *Heap) releaseEdges(i int32) (bytes int64) {
	for l := h.lose(i, (*memory).isolateEdge); l.n > 0; l = h.lose(i, (*memory).isolateEdge) {
		bytes += h.giveUp(l)
	}
	return bytes
}

// releaseRest gives up the free extent i, and returns the bytes that went: see isolateRest.
// The caller holds growMu.
func (h *Heap) releaseRest(i int32) int64 { return h.giveUp(h.lose(i, (*memory).isolateRest)) }

// lose has isolate put extent i, or a part of it, into quarantine.
func (h *Heap) lose(i int32, isolate func(m *memory, i int32) loss) loss {
	h.mu.Lock()
	defer h.Unlock()
	return isolate(&h.memory, i)
}

// giveUpAddresses gives up the addresses above the memory of each range, as a block that is
// never released would keep them for ever. If all blocks of a range are in quarantine, it also
// gives up the addresses between them. If that fails the addresses stay: a cost, not a fault. The
// caller holds growMu.
func (h *Heap) giveUpAddresses() {
	for s := range h.segs {
		rng := h.segs[s].rng
		if rng == nil {
			continue
		}
		if r, ok := rng.Region().(device.Shrinker); ok {
			edge := h.edge(int32(s))
			if n := rng.Region().Size() - edge; n > 0 {
				_ = r.GiveUp(edge, n)
			}
			for off, n := h.abandoned(int32(s)); n > 0; off, n = h.abandoned(int32(s)) {
				_ = r.GiveUp(off, n)
			}
		}
	}
}

// edge returns the end of the memory of segment s.
func (h *Heap) edge(s int32) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(h.segs[s].end).off
}

// abandoned is abandon that takes the lock.
func (h *Heap) abandoned(s int32) (off, n int) {
	h.mu.Lock()
	defer h.Unlock()
	return h.abandon(s)
}
