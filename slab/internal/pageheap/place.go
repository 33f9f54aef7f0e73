package pageheap

import "github.com/bufslab/bufslab/slab/internal/align"

// AllocAt returns a used extent of at least size bytes at offset off of the first segment,
// or none if that is not free. It never goes upstream. The heap must not be Numbered, and
// the caller holds the lock.
func (h *Heap) AllocAt(off, size int) int32 {
	n := align.Up(size, h.align)
	i := h.freeAt(off, n)
	if i == none {
		return none
	}
	if front := off - h.at(i).off; front > 0 {
		h.unlist(h.at(i))
		upper := h.split(i, front)
		h.list(i, free)
		h.list(upper, free)
		i = upper
	}
	return h.take(i, n, size)
}

// freeAt returns the free extent of the first segment that has n bytes from off on, or none.
// It goes down from the next page in which a used extent begins.
func (h *Heap) freeAt(off, n int) int32 {
	if len(h.segs) == 0 || h.segs[0].end == none || off < 0 || off&(h.align-1) != 0 {
		return none
	}
	seg := &h.segs[0]
	i := seg.end
	if page := seg.begins.Next(off>>pageShift + 1); page >= 0 {
		i = seg.pages.first(page)
	}
	for i = h.at(i).prev; i != none && h.at(i).off > off; i = h.at(i).prev {
	}
	if h.freeLen(i)-n < off-h.at(i).off {
		return none
	}
	return i
}
