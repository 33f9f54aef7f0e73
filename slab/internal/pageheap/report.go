package pageheap

import (
	"math/bits"

	"github.com/bufslab/bufslab/internal/replaying"
)

// Extents returns all extents, by segment and address, as a report draws them. It takes the
// lock.
func (h *Heap) Extents() (all []replaying.Extent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.segs {
		if h.segs[s].block.Region == nil {
			continue
		}
		for i := h.bottom(int32(s)); h.at(i).state != end; i = h.at(i).next {
			x := h.at(i)
			all = append(all, replaying.Extent{Region: s, Off: x.off, Len: x.len, State: drawn[x.state]})
		}
	}
	return all
}

// drawn has the states of a report. Leaving memory is no longer free.
var drawn = [...]replaying.State{
	free: replaying.Free, decommitted: replaying.Decommitted, used: replaying.Used,
	quarantined: replaying.Lost, leaving: replaying.Decommitted,
}

// FreeExtents returns all free bytes, the bytes of the largest free extent, and in bySize[i] the
// number of extents of at least 1<<i and less than 1<<(i+1) bytes. It takes the lock, and looks at
// each free extent.
func (h *Heap) FreeExtents() (bytes, largest int64, bySize []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.each(free, 0) {
		n := h.at(i).len
		largest = max(largest, int64(n))
		k := bits.Len(uint(n)) - 1
		bySize = append(bySize, make([]int64, max(0, k+1-len(bySize)))...)
		bySize[k]++
	}
	return h.index[free].bytes, largest, bySize
}
