package pageheap

import (
	"cmp"
	"slices"

	"github.com/bufslab/bufslab/slab/internal/align"
)

// A trim gives memory back while a program runs. A free extent is as young as the memory that came
// back to it last, so a small block that comes and goes would keep a large free extent. But a heap
// does not need memory beyond its peak of use.

// Trim ends an epoch and gives back memory that has been free for the last idle epochs, and memory
// beyond the peak of use in these epochs. It returns the bytes that went upstream.
func (h *Heap) Trim(idle int) int64 {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	n := h.releaseIdle(idle) + h.releaseSpare(idle)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	return n
}

// Shrink gives back n bytes, or all that can go. The longest free extents go first, and of equally old
// extents the largest. A segment that is no range goes whole. If it is more than twice the rest of n, it
// stays, unless nothing else goes.
func (h *Heap) Shrink(n int64) {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	left, list := n, []int32(nil)
	for again := true; again; { // a Get may have split what was listed
		before := left
		list = h.oldest()
		for _, i := range list {
			if left > 0 {
				left -= h.releasePart(i, h.partOf(i, left))
			}
		}
		again = 0 < left && left < before
	}
	for k := 0; k < len(list) && left == n && n > 0; k++ {
		left -= h.release(list[k])
	}
}

// partOf is the number of bytes of extent i that go if n bytes are wanted: whole pages of a range.
func (h *Heap) partOf(i int32, n int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.at(i)
	part := int(min(n, int64(maxInt/2)))
	switch r := h.segs[x.seg].rng; {
	case r != nil:
		return align.Up(part, r.Page())
	case x.state == free && x.len <= 2*part:
		return maxInt
	}
	return part
}

// oldest returns the free extents in the order of Shrink.
func (h *Heap) oldest() []int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := slices.Collect(h.each(free, 0))
	slices.SortFunc(list, func(i, j int32) int {
		a, b := h.at(i), h.at(j)
		return cmp.Or(cmp.Compare(a.stamp, b.stamp), cmp.Compare(b.len, a.len))
	})
	return list
}

// leastSpare is the least extent that is worth a call.
const leastSpare = 64 << 10

// releaseSpare ends an epoch, and gives back pages of ranges beyond the peak of use in the last idle
// epochs, of the largest extents first. It returns the bytes. The caller holds growMu.
func (h *Heap) releaseSpare(idle int) (sum int64) {
	list, spare := h.spare(idle)
	for _, i := range list {
		if sum < spare {
			sum += h.releasePart(i, int(spare-sum))
		}
	}
	return sum
}

// spare returns the free extents of ranges that are worth a call, and the bytes that may go.
func (h *Heap) spare(idle int) (list []int32, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	most, ended := h.window.end(idle, h.usedBytes())
	if bytes = h.managed - most; !ended || bytes < leastSpare {
		return nil, 0
	}
	for i := range h.each(free, leastSpare) {
		if x := h.at(i); x.len >= leastSpare && h.segs[x.seg].rng != nil {
			list = append(list, i)
		}
	}
	slices.Reverse(list) // each begins with the shortest
	return list, bytes
}
