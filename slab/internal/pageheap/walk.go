package pageheap

import "github.com/bufslab/bufslab/internal/replaying"

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

// bottom returns the first extent of segment s, which may be its end.
func (h *Heap) bottom(s int32) int32 {
	i := h.segs[s].end
	for h.at(i).prev != none {
		i = h.at(i).prev
	}
	return i
}

// drawn has how a report draws the states. What is leaving is no free memory any more.
var drawn = [...]replaying.State{
	free: replaying.Free, decommitted: replaying.Decommitted, used: replaying.Used,
	quarantined: replaying.Lost, leaving: replaying.Decommitted,
}
