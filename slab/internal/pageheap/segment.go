package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A segment is a region of the upstream: a range that grows at its end, or
// a block of fixed size.
type segment struct {
	block    device.Block // of a range: all of its addresses
	rng      device.Range // nil of a block
	end      int32        // the extent that ends it
	used     int          // extents, including extents in quarantine
	isolated int          // extents in quarantine
	lost     int64        // bytes in quarantine that have gone back
	pages    pageMap
}

// unit is the unit of segments of small blocks, in which their pages go back: 4 KiB, or the alignment of
// blocks if that is more.
func (e *extents) unit() int { return max(4<<10, e.align) }

// A memory is the memory of a heap: segments, the extents that tile them, and counts. It takes no lock
// and does not call the upstream.
type memory struct {
	extents
	segs     []segment        // a segment without a region is free for reuse
	regions  upstream.Regions // from blocks to segments
	current  int32            // the range that grows, or -1
	numbered bool             // no page map is kept
	owns     bool             // each block of the upstream is a region of its own
	managed  int64            // bytes from upstream
	excess   int64            // of them, bytes of regions beyond the segments asked for
	isolated int64            // of them, in quarantine
	peakUsed int64            // the most of them that were not free at a time
	peakLeft int64            // the same after a Free: without the two blocks of a copy
	window   window           // the same lately

	processor func() int // Options.Processor
}

func newMemory(align int, numbered, owns bool) memory {
	return memory{extents: newExtents(align), regions: upstream.NewRegions(), current: -1, numbered: numbered,
		owns: owns}
}

// addSegment enters a region of the upstream without extents.
func (m *memory) addSegment(s segment) int32 {
	i := int32(0)
	for int(i) < len(m.segs) && m.segs[i].block.Region != nil {
		i++
	}
	if int(i) == len(m.segs) {
		m.segs = append(m.segs, segment{})
	}
	s.end = m.extents.segment(i)
	m.segs[i] = s
	m.regions.Add(s.block, i)
	return i
}

// removeSegment forgets segment s, which has no used extent.
func (m *memory) removeSegment(s int32) {
	seg := m.segs[s]
	for i := seg.end; i != none; {
		prev := m.at(i).prev
		if s := m.at(i).state; s == free || s == decommitted {
			m.unlist(m.at(i))
		}
		m.forget(i)
		i = prev
	}
	m.regions.Remove(seg.block)
	if m.current == s {
		m.current = -1
	}
	m.segs[s] = segment{}
}

// top returns the last extent of segment s, or none.
func (m *memory) top(s int32) int32 { return m.at(m.segs[s].end).prev }

// bottom returns the first extent of segment s, which may be its end.
func (m *memory) bottom(s int32) int32 {
	i := m.segs[s].end
	for m.at(i).prev != none {
		i = m.at(i).prev
	}
	return i
}

// committed returns the bytes of memory behind segment s, without leaving memory.
func (m *memory) committed(s int32) int64 {
	n := m.at(m.segs[s].end).off - int(m.segs[s].lost)
	for i := m.segs[s].end; i != none; i = m.at(i).prev {
		if s := m.at(i).state; s == decommitted || s == leaving {
			n -= m.at(i).len
		}
	}
	return int64(n)
}

// isLazy reports whether segment s is a range that commits far ahead: see
// [device.LazyRange].
func (m *memory) isLazy(s int32) bool {
	r := m.segs[s].rng
	return r != nil && upstream.Ready(r) >= 0
}

// room is the number of bytes of addresses that range s has left for certain: the
// last page may be needed to round up.
func (m *memory) room(s int32) int {
	r := m.segs[s].rng
	return r.Region().Size() - m.at(m.segs[s].end).off - r.Page()
}

// freeLen returns the length of i if it is free memory.
func (e *extents) freeLen(i int32) int {
	if i == none || e.at(i).state != free {
		return 0
	}
	return e.at(i).len
}

// notePeak is called when extents become used.
func (m *memory) notePeak() {
	used := m.usedBytes()
	m.peakUsed = max(m.peakUsed, used)
	m.window.most = max(m.window.most, used)
}

// usedBytes counts the managed bytes that are not free.
func (m *memory) usedBytes() int64 { return m.managed - m.index[free].bytes }
