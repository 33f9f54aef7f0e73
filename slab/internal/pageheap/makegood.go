package pageheap

// A block that grows takes new memory after it, or apart from others, even if memory is free
// elsewhere. A program whose blocks grow and go in turns would leave ever more free memory
// behind, even if it uses little at a time.

// freeShare of the managed bytes, as a divisor, may be free where growth makes a new peak.
const freeShare = 4

// hasRoom reports whether a block that grows by more bytes, to n, had better be copied: n bytes are
// free in one place, and the heap has had as much in use before. So the program does not need more
// memory, and to copy a page takes less time than to get a new page.
func (h *Heap) hasRoom(more, n int) bool {
	return h.usedBytes()+int64(more) <= h.peakLeft && h.find(free, n) != none
}

// makeGood gives up to n free bytes back before growth takes n bytes, while too much is free. It
// leaves free memory after extent i, as i will use it. The caller holds growMu.
func (h *Heap) makeGood(n int, i int32) {
	for n > 0 {
		other := h.tooMuchFree(n, i)
		if other == none {
			return
		}
		bytes := h.release(other)
		if bytes == 0 {
			return
		}
		n -= int(bytes)
	}
}

// tooMuchFree returns one of the largest free extents. It returns none if n bytes make no new peak, if
// little is free, or if the extent is not worth a call or follows i.
func (h *Heap) tooMuchFree(n int, i int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.managed+int64(n) <= h.policy.high || h.index[free].bytes <= h.managed/freeShare {
		return none
	}
	other := h.largest(free)
	if other == none || h.at(other).len < firstStep || i != none && h.at(i).next == other {
		return none
	}
	return other
}

// drainShare of the managed bytes, as a divisor, is the growth after which the heap drains again: a
// drain takes microseconds.
const drainShare = 128

// drainBeforePeak has the owner free extents that nobody needs. It does so if an extent of n bytes
// takes the heap past its old peak, and the heap has grown enough since the last drain. It reports
// whether it drained. The caller holds mu, which is given back meanwhile.
func (h *Heap) drainBeforePeak(n int) bool {
	if h.options.BeforePeak == nil || h.managed < max(h.drainAt, 1) || h.managed+int64(n) <= h.policy.high {
		return false
	}
	h.drainAt = h.managed + h.managed/drainShare + 1
	_ = h.unlocked(func() error { h.options.BeforePeak(); return nil })
	return true
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

// worthDecommitting returns a free extent whose pages make good for a growth by n bytes at the top
// of the current range, or none. An extent of half of n is worth a call. If Commit takes no call,
// the decommit counts as a miss, and n has to be a large part of the heap.
func (h *Heap) worthDecommitting(n int) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current < 0 || h.room(h.current) < n {
		return none
	}
	lazy := h.isLazy(h.current)
	if lazy && (h.policy.budget() < 1 || int64(n) < h.managed/lazyShare) {
		return none
	}
	top := h.top(h.current)
	need := n - h.freeLen(top)
	if need <= 0 || h.managed+int64(h.blockStep(h.current, n, need)) <= h.policy.high {
		return none
	}
	i := h.largest(free)
	if i == none || i == top || h.segs[h.at(i).seg].rng == nil ||
		h.at(i).len < max(need/2, h.segs[h.current].rng.Page()) {
		return none
	}
	if lazy {
		h.policy.calls++
	}
	return i
}
