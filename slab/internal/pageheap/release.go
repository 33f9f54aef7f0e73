package pageheap

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
	h.holdNothing()
	h.releaseIdle(0)
	h.giveUpAddresses()
	h.stopped = true
}

func (h *Heap) holdNothing() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.maxHeld = 0
}

// Trim ends an epoch and gives back what has been free for the last idle
// epochs, and what is more than was in use then. It returns the bytes that went upstream.
func (h *Heap) Trim(idle int) int64 {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	n := h.releaseIdle(idle) + h.releaseSpare(idle)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	return n
}

// ReleaseOverHeld gives memory back where more is held than may be: what was freed
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

// takeFreed returns one of those, none if there are no more.
func (h *Heap) takeFreed() (i int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := len(h.freed) - 1; k >= 0 {
		i, h.freed = h.freed[k], h.freed[:k]
	}
	return i
}

// overHeld returns the bytes that are held beyond what may be, and an extent
// that is among the largest of them.
func (h *Heap) overHeld() (int64, int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.index[free].bytes - h.maxHeld, h.largest(free)
}

// releaseIdle gives back what has been free since before the last idle epochs
// ended, and returns the bytes. The caller holds growMu.
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
	for i := range h.each(free) {
		if int64(h.epoch-h.at(i).stamp) >= int64(idle) {
			list = append(list, i)
		}
	}
	return list
}

// releaseSegments gives wholly free segments back until at least n bytes are.
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

// unusedSegment returns the one extent of a segment that is wholly free and no
// range, else none.
func (h *Heap) unusedSegment(s int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seg := &h.segs[s]; seg.end == none || seg.used > 0 || seg.rng != nil {
		return none
	}
	return h.top(s)
}

// release gives back what can go upstream of extent i, if it is free still, and
// returns the bytes. The caller holds growMu.
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

// drainShare of the managed bytes, as a divisor, is what the heap grows by before it asks
// again for what nobody needs: asking takes microseconds.
const drainShare = 128

// worthDraining reports whether an extent of n bytes takes the heap past its old peak, and
// it has grown enough since that was last so. The caller holds mu.
func (h *Heap) worthDraining(n int) bool {
	if h.drain == nil || h.managed < max(h.drainAt, 1) || h.managed+int64(n) <= h.policy.high {
		return false
	}
	h.drainAt = h.managed + h.managed/drainShare + 1
	return true
}

// drainOthers has others free what they do not need. The caller holds mu, which is given
// back meanwhile.
func (h *Heap) drainOthers() {
	_ = h.unlocked(func() error { h.drain(); return nil })
}

// decommitBeforePeak gives back, before a new peak for n bytes, pages of the largest free
// extents: at most two, and only if they are worth a call. The caller holds growMu.
func (h *Heap) decommitBeforePeak(n int) {
	for range 2 {
		i := h.worthDecommitting(n)
		if i == none || h.release(i) == 0 {
			return
		}
	}
}

// lazyShare of the managed bytes, as a divisor, is the least growth of a lazy range that is
// worth a decommit: each page that went costs a fault when it comes back.
const lazyShare = 16

// worthDecommitting returns a free extent whose pages make good for what n bytes take at
// the top of the current range, or none. An extent of half as much is worth a call; with
// Options.Decommit a sixteenth is. Where Commit takes no call, this one counts as a miss, and
// n has to be a large part of the heap.
func (h *Heap) worthDecommitting(n int) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current < 0 || h.room(h.current) < n {
		return none
	}
	lazy := h.isLazy(h.current)
	if lazy && !h.decommit && (h.policy.budget() < 1 || int64(n) < h.managed/lazyShare) {
		return none
	}
	top := h.top(h.current)
	need := n - h.freeLen(top)
	if need <= 0 || h.managed+int64(h.topStep(h.current, need)) <= h.policy.high {
		return none
	}
	i, least := h.largest(free), need/2
	if h.decommit {
		least = need / 16
	}
	if i == none || i == top || h.segs[h.at(i).seg].rng == nil || h.at(i).len < max(least, h.segs[h.current].rng.Page()) {
		return none
	}
	if lazy {
		h.policy.calls++
	}
	return i
}
