package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/bitset"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A segment is a region of the upstream: a range that grows at its end, or
// a block of fixed size.
type segment struct {
	block    device.Block // of a range: all of its addresses
	rng      device.Range // nil of a block
	end      int32        // the extent that ends it
	used     int          // extents, those in quarantine too
	isolated int          // extents in quarantine
	lost     int64        // bytes in quarantine that have gone back
	pages    pageMap
	begins   bitset.Set // pages in which a used extent begins, if there is a page map
}

// segments are those of a heap. A segment without a region is free for reuse.
type segments struct {
	segs    []segment
	regions upstream.Regions // from blocks to segments
	current int32            // the range that grows, or -1
}

func newSegments() segments { return segments{regions: upstream.NewRegions(), current: -1} }

// addSegment enters a region of the upstream without extents.
func (h *Heap) addSegment(s segment) int32 {
	i := int32(0)
	for int(i) < len(h.segs) && h.segs[i].block.Region != nil {
		i++
	}
	if int(i) == len(h.segs) {
		h.segs = append(h.segs, segment{})
	}
	s.end = h.extents.segment(i)
	h.segs[i] = s
	h.regions.Add(s.block, i)
	return i
}

// removeSegment forgets segment s, which has no used extent.
func (h *Heap) removeSegment(s int32) {
	seg := h.segs[s]
	for i := seg.end; i != none; {
		prev := h.at(i).prev
		if s := h.at(i).state; s == free || s == decommitted {
			h.unlist(h.at(i))
		}
		h.forget(i)
		i = prev
	}
	h.regions.Remove(seg.block)
	if h.current == s {
		h.current = -1
	}
	h.segs[s] = segment{}
}

// top returns the last extent of segment s, or none.
func (h *Heap) top(s int32) int32 { return h.at(h.segs[s].end).prev }

// committed returns the bytes of memory behind segment s, less what is on its way
// upstream.
func (h *Heap) committed(s int32) int64 {
	n := h.at(h.segs[s].end).off - int(h.segs[s].lost)
	for i := h.segs[s].end; i != none; i = h.at(i).prev {
		if s := h.at(i).state; s == decommitted || s == leaving {
			n -= h.at(i).len
		}
	}
	return int64(n)
}

// isLazy reports whether segment s is a range that commits far ahead: see
// [device.LazyRange].
func (h *Heap) isLazy(s int32) bool {
	r := h.segs[s].rng
	return r != nil && upstream.Ready(r) >= 0
}

// room is how many bytes of addresses range s has left for certain: the last
// page may be needed to round up.
func (h *Heap) room(s int32) int {
	r := h.segs[s].rng
	return r.Region().Size() - h.at(h.segs[s].end).off - r.Page()
}
