package slab

// This file is the geometry of free memory: chunks that tile segments, split
// and merge, and an index that finds one that fits. It knows no upstream and
// takes no lock; arena.go does.

// A chunk is a run of bytes of one segment. Chunks of a segment tile it
// without gaps, and neighbours that are both free, or both holes, are merged. Records stand
// outside the memory, so they work for memory that the CPU cannot reach, and
// refer to each other by index, so the collector has nothing to scan.
type chunk struct {
	off, len   int
	asked      int   // of a used chunk: what the caller wanted
	prev, next int32 // neighbours by address
	up, down   int32 // neighbours in a list of the index
	seg        int32
	stamp      uint32 // of a free chunk: the epoch in which it grew last
	state      uint8
}

const (
	free uint8 = iota // memory that can be handed out
	hole              // addresses without memory behind them
	used              // memory in a caller's hands
	edge              // the end of a segment: no bytes
	gone              // the record is not in use
)

// none is the index of no chunk: record 0 is never handed out.
const none = 0

// heap is the set of chunks of all segments, and an index each of the free
// ones and of the holes.
type heap struct {
	chunks []chunk
	vacant []int32
	index  [2]index // by state
	align  int      // every offset and length is a multiple of it
	epoch  uint32
}

func newHeap(align int) heap { return heap{chunks: []chunk{{state: gone}}, align: align} }

func (h *heap) at(i int32) *chunk { return &h.chunks[i] }

// record returns the index of a chunk record for [off, off+n) of seg.
func (h *heap) record(seg int32, off, n int) int32 {
	c := chunk{seg: seg, off: off, len: n, stamp: h.epoch}
	if k := len(h.vacant); k > 0 {
		i := h.vacant[k-1]
		h.vacant = h.vacant[:k-1]
		h.chunks[i] = c
		return i
	}
	h.chunks = append(h.chunks, c)
	return int32(len(h.chunks) - 1)
}

// segment returns the edge of a new, empty segment.
func (h *heap) segment(seg int32) int32 {
	e := h.record(seg, 0, 0)
	h.at(e).state = edge
	return e
}

// extend adds n bytes before the edge e, as a free chunk or a part of one.
func (h *heap) extend(e int32, n int) {
	i := h.record(h.at(e).seg, h.at(e).off, n)
	h.at(e).off += n
	p := h.at(e).prev
	h.at(i).prev, h.at(i).next, h.at(e).prev = p, e, i
	if p != none {
		h.at(p).next = i
	}
	h.merge(i, free)
}

// forget takes the record of i out of its neighbourhood and makes it vacant.
func (h *heap) forget(i int32) {
	c := h.at(i)
	if c.prev != none {
		h.at(c.prev).next = c.next
	}
	if c.next != none {
		h.at(c.next).prev = c.prev
	}
	*c = chunk{state: gone}
	h.vacant = append(h.vacant, i)
}

// use cuts n bytes from the front of the free chunk i and marks them used.
func (h *heap) use(i int32, n, asked int) {
	h.unlist(i)
	if h.at(i).len > n {
		h.list(h.split(i, n), free)
	}
	c := h.at(i)
	c.state, c.asked = used, asked
}

// split cuts i after n bytes and returns the record of the rest, in no list.
func (h *heap) split(i int32, n int) int32 {
	c := h.at(i)
	r := h.record(c.seg, c.off+n, c.len-n)
	c = h.at(i) // record may have moved it
	rest := h.at(r)
	rest.prev, rest.next, rest.stamp = i, c.next, c.stamp
	if c.next != none {
		h.at(c.next).prev = r
	}
	c.next, c.len = r, n
	return r
}

// merge gives i, which is in no list, a state that has an index, joins it
// with its neighbours of the same state, and returns the whole.
func (h *heap) merge(i int32, state uint8) int32 {
	if n := h.at(i).next; n != none && h.at(n).state == state {
		h.unlist(n)
		h.at(i).len += h.at(n).len
		h.forget(n)
	}
	if p := h.at(i).prev; p != none && h.at(p).state == state {
		h.unlist(p)
		h.at(p).len += h.at(i).len
		h.forget(i)
		i = p
	}
	h.at(i).stamp = h.epoch
	h.list(i, state)
	return i
}
