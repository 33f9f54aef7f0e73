package pageheap

// A block that grows takes new memory after it, or apart from others, though memory may be
// free elsewhere. A program whose blocks grow and go in turns would leave ever more free memory
// behind, however little it uses at a time.

// freeShare of the managed bytes, as a divisor, may be free where growth makes a new peak.
const freeShare = 4

// hasRoom reports whether a block that grows by more bytes, to n, had better be copied than get
// new pages: n bytes are free in one place, and the heap has had as much in use before. So the
// program can do without more memory, and to copy a page takes less time than to get one.
func (h *Heap) hasRoom(more, n int) bool {
	return h.usedBytes()+int64(more) <= h.peakLeft && h.find(free, n) != none
}

// makeGood gives free memory back before growth takes n bytes: as many, while too much is free.
// It leaves what is free after the extent i, as that will use it. The caller holds growMu.
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

// tooMuchFree returns one of the largest free extents, or none where n bytes make no new peak,
// or little is free, or that extent is not worth a call, or follows i.
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
