package slab

// This file is the geometry of free memory: chunks that tile segments, split
// and merge, and an index that finds one that fits. It knows no upstream and
// takes no lock; arena.go does.

// A chunk is a run of bytes of one segment. Chunks of a segment tile it
// without gaps, and two free neighbours are always merged. Records stand
// outside the memory, so they work for memory that the CPU cannot reach, and
// refer to each other by index, so the collector has nothing to scan.
type chunk struct {
	off, len   int
	asked      int   // of a used chunk: what the caller wanted
	prev, next int32 // neighbours by address
	up, down   int32 // neighbours in a free list
	seg        int32
	stamp      uint32 // of a free chunk: the epoch in which it grew last
	state      uint8
}

const (
	vacant uint8 = iota // the record is not in use
	free                // memory that can be handed out
	used                // memory in a caller's hands
	hole                // addresses without memory behind them
	edge                // the end of a segment: no bytes, never merged
)

// none is the index of no chunk: record 0 is never handed out.
const none = 0

// heap is the set of chunks of all segments and the index of the free ones:
// two-level segregated fit after Masmano et al. (TLSF, ECRTS 2004), with 32
// lists a doubling, last freed first.
type heap struct {
	chunks []chunk
	vacant []int32
	heads  []int32
	lists  bitset
	align  int // every offset and length is a multiple of it
	epoch  uint32

	freeChunks int64
	freeBytes  int64
}

func newHeap(align int) heap { return heap{chunks: make([]chunk, 1), align: align} }

// listOf returns the list for chunks of n units: exact below 32, then 32 a doubling.
func listOf(n uint) int {
	const steps = 5
	if n < 1<<steps {
		return int(n)
	}
	e := bitLen(n) - 1 - steps
	return e<<steps + int(n>>e)
}

// fitting returns the first list all of whose chunks hold n units.
func fitting(n uint) int {
	const steps = 5
	if n < 1<<steps {
		return int(n)
	}
	e := bitLen(n) - 1 - steps
	return listOf(n + 1<<e - 1)
}

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
	h.release(i)
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
	*c = chunk{}
	h.vacant = append(h.vacant, i)
}

// list enters i, which nobody uses, into the index.
func (h *heap) list(i int32) {
	c := h.at(i)
	l := listOf(uint(c.len / h.align))
	for len(h.heads) <= l {
		h.heads = append(h.heads, none)
	}
	c.state, c.up, c.down = free, none, h.heads[l]
	if c.down != none {
		h.at(c.down).up = i
	}
	h.heads[l] = i
	h.lists.set(l)
	h.freeChunks++
	h.freeBytes += int64(c.len)
}

// unlist takes i out of the index.
func (h *heap) unlist(i int32) {
	c := h.at(i)
	if c.down != none {
		h.at(c.down).up = c.up
	}
	if c.up != none {
		h.at(c.up).down = c.down
	} else {
		l := listOf(uint(c.len / h.align))
		if h.heads[l] = c.down; c.down == none {
			h.lists.clear(l)
		}
	}
	h.freeChunks--
	h.freeBytes -= int64(c.len)
}

// find returns a free chunk of at least n bytes, or none: the head of the
// first list that holds n for certain, else one of the first few of the list
// that may.
func (h *heap) find(n int) int32 {
	u := uint(n / h.align)
	own := listOf(u)
	if i := h.scan(own, n, 4); i != none {
		return i
	}
	if l := h.lists.next(fitting(u)); l >= 0 {
		return h.heads[l]
	}
	return h.scan(own, n, 32)
}

func (h *heap) scan(list, n, most int) int32 {
	if list >= len(h.heads) {
		return none
	}
	i := h.heads[list]
	for ; i != none && most > 0; most-- {
		if h.at(i).len >= n {
			return i
		}
		i = h.at(i).down
	}
	return none
}

// use cuts n bytes from the front of the free chunk i and marks them used.
func (h *heap) use(i int32, n, asked int) {
	h.unlist(i)
	if h.at(i).len > n {
		h.list(h.split(i, n))
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

// release makes i free, merges it with its free neighbours and returns the
// index of the whole.
func (h *heap) release(i int32) int32 {
	if n := h.at(i).next; n != none && h.at(n).state == free {
		h.unlist(n)
		h.at(i).len += h.at(n).len
		h.forget(n)
	}
	if p := h.at(i).prev; p != none && h.at(p).state == free {
		h.unlist(p)
		h.at(p).len += h.at(i).len
		h.forget(i)
		i = p
	}
	h.at(i).stamp = h.epoch
	h.list(i)
	return i
}
