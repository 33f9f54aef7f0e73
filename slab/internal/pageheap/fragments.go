package pageheap

import "math/bits"

// FreeExtents returns how the free bytes lie: how many there are, how many the largest
// extent has, and in bySize[i] the number of extents of 1<<i bytes up to twice as many. It
// takes the lock, and looks at each free extent.
func (h *Heap) FreeExtents() (bytes, largest int64, bySize []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.each(free) {
		n := h.at(i).len
		largest = max(largest, int64(n))
		k := bits.Len(uint(n)) - 1
		bySize = append(bySize, make([]int64, max(0, k+1-len(bySize)))...)
		bySize[k]++
	}
	return h.index[free].bytes, largest, bySize
}
