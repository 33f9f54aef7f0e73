package pageheap

import "github.com/bufslab/bufslab/slab/internal/align"

// FreeHeld gives regions that are wholly free upstream, and free pages within ranges.
func (h *Heap) FreeHeld() {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.releaseIdle(0)
}

// StopHolding is FreeHeld, and from now on memory goes upstream as soon as it can, with
// the addresses above it.
func (h *Heap) StopHolding() {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.mu.Lock()
	h.maxHeld = 0
	h.mu.Unlock()
	h.releaseIdle(0)
	h.giveUpAddresses()
	h.stopped = true
}

// ReleaseOverHeld gives memory back if too much is held: first extents that were freed
// since the last call, then segments, then the largest extents.
func (h *Heap) ReleaseOverHeld() {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	for i := h.takeFreed(); i != none; i = h.takeFreed() {
		h.release(i)
	}
	if n, _ := h.overHeld(); n > 0 {
		h.releaseSegments(n)
	}
	for n, i := h.overHeld(); n > 0 && i != none && h.release(i) > 0; {
		n, i = h.overHeld()
	}
	if h.stopped {
		h.giveUpAddresses()
	}
}

// takeFreed returns an extent that was freed since then, none if there are no more.
func (h *Heap) takeFreed() (i int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := len(h.freed) - 1; k >= 0 {
		i, h.freed = h.freed[k], h.freed[:k]
	}
	return i
}

// overHeld returns the bytes that are held beyond the bound, and one of the largest
// free extents.
func (h *Heap) overHeld() (int64, int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.index[free].bytes - h.maxHeld, h.largest(free)
}

// releaseIdle gives back memory that was free throughout the last idle epochs, and
// returns the bytes. The caller holds growMu.
func (h *Heap) releaseIdle(idle int) int64 {
	var sum int64
	for _, i := range h.idleExtents(idle) {
		sum += h.release(i)
	}
	return sum
}

func (h *Heap) idleExtents(idle int) (list []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	add := func(i int32) {
		if i != none && int64(h.epoch-h.at(i).stamp) >= int64(idle) {
			list = append(list, i)
		}
	}
	least := h.unit()
	for s := range h.segs {
		if add(h.freeSegment(int32(s))); h.segs[s].isolated > 0 {
			least = 0
		}
	}
	for i := range h.each(free, least) {
		if h.mayGo(i) {
			add(i)
		}
	}
	return list
}

// mayGo reports whether a part of the free extent i, of a segment that is in use, could go upstream: whole pages of a
// range, or pages beside quarantine. Most free extents of a heap are shorter than a page.
func (h *Heap) mayGo(i int32) bool {
	x := h.at(i)
	seg := &h.segs[x.seg]
	if seg.rng == nil || seg.isolated > 0 {
		return seg.isolated > 0
	}
	page := seg.rng.Page()
	return align.Up(x.off, page) < align.Down(x.off+x.len, page)
}

// releaseSegments gives wholly free segments back, until at least n bytes have gone.
// The caller holds growMu.
func (h *Heap) releaseSegments(n int64) int64 {
	var sum int64
	for s := 0; s < len(h.segs) && sum < n; s++ {
		if i := h.unusedSegment(int32(s)); i != none {
			sum += h.release(i)
		}
	}
	return sum
}

func (h *Heap) unusedSegment(s int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.freeSegment(s)
}

// freeSegment returns the only extent of a segment that is wholly free and no range, else none.
func (h *Heap) freeSegment(s int32) int32 {
	if seg := &h.segs[s]; seg.end == none || seg.used > 0 || seg.rng != nil {
		return none
	}
	return h.top(s)
}

// release gives back the part of extent i that can go upstream, if i is still free,
// and returns the bytes. The caller holds growMu.
func (h *Heap) release(i int32) int64 { return h.releasePart(i, maxInt) }

// releasePart is release of n bytes at most, if the extent has more.
func (h *Heap) releasePart(i int32, n int) int64 {
	edges := h.releaseEdges(i)
	d, ok := h.detach(i, n)
	switch {
	case !ok:
		return edges + h.releaseRest(i)
	case !h.send(d):
		return edges
	}
	return edges + d.bytes
}
