package pageheap

import "math/bits"

const maxInt = int(^uint(0) >> 1)

// An extent is a run of bytes of one segment. Extents of a segment tile it
// without gaps, and neighbours that are both free, both decommitted, or both in quarantine, are
// merged. Extents refer to each other by index, so the collector has nothing to scan.
type extent struct {
	off, len   int
	prev, next int32 // neighbours by address
	up, down   int32 // neighbours in a list of the index; up of a used extent is its span
	seg        int32
	excess     uint32 // of a used extent: bytes of len that Alloc was not asked for
	stamp      uint32 // of a free extent: the epoch of its last growth
	side       side   // of a free extent: the processor that had most of its bytes
	state      state
}

type state uint8

const (
	free        state = iota // memory that can be handed out
	decommitted              // addresses without memory behind them
	used                     // memory in a caller's hands
	quarantined              // never to be used again: see quarantine.go
	leaving                  // memory on its way upstream
	end                      // the end of a segment: no bytes
	gone                     // the record is not in use
)

// none is the index of no extent: record 0 is never handed out.
const none = 0

// extents has the extents of all segments, with an index of the free extents and an
// index of the decommitted ones. It knows no upstream and takes no lock.
type extents struct {
	records []extent
	vacant  int32    // the first unused record; next links them
	index   [2]index // by state
	align   int      // every offset and length is a multiple of it
	shift   uint     // its logarithm
	epoch   uint32
}

func newExtents(align int) extents {
	return extents{records: []extent{{state: gone}}, align: align, shift: uint(bits.TrailingZeros(uint(align)))}
}

func (e *extents) at(i int32) *extent { return &e.records[i] }

// inUse reports whether i is the number of a used extent. i may be any number.
func (e *extents) inUse(i int32) bool {
	return i > none && int(i) < len(e.records) && e.records[i].state == used
}

// record returns a record for [off, off+n) of seg.
func (e *extents) record(seg int32, off, n int) int32 {
	i := e.vacant
	if i == none {
		i = int32(len(e.records))
		e.records = append(e.records, extent{})
	}
	x := e.at(i)
	e.vacant = x.next
	*x = extent{seg: seg, off: off, len: n, stamp: e.epoch}
	return i
}

// segment returns the end of a new, empty segment.
func (e *extents) segment(seg int32) int32 {
	i := e.record(seg, 0, 0)
	e.at(i).state = end
	return i
}

// appendTop adds n bytes of a state before the end of a segment, which is its last extent. They
// become an extent or join one.
func (e *extents) appendTop(last int32, n int, s state) {
	i := e.record(e.at(last).seg, e.at(last).off, n)
	e.at(last).off += n
	e.makeLists(e.at(last).off)
	p := e.at(last).prev
	e.at(i).prev, e.at(i).next, e.at(last).prev = p, last, i
	if p != none {
		e.at(p).next = i
	}
	e.merge(i, s)
}

// forget takes extent i out of its neighbourhood and makes its record vacant.
func (e *extents) forget(i int32) {
	x := e.at(i)
	if x.prev != none {
		e.at(x.prev).next = x.next
	}
	if x.next != none {
		e.at(x.next).prev = x.prev
	}
	x.state, x.next, e.vacant = gone, e.vacant, i
}

// front takes the first n bytes of i out of its index. The rest stays there.
func (e *extents) front(i int32, n int) {
	x := e.at(i)
	e.unlist(x)
	if s := x.state; x.len > n {
		e.list(e.split(i, n), s)
	}
}

// cut cuts the free extent i after n bytes, and returns the upper part, which is free, too.
func (e *extents) cut(i int32, n int) int32 {
	e.front(i, n)
	e.list(i, free)
	return e.at(i).next
}

// use cuts n bytes from the front of the free extent i, marks them used, and returns i's record.
func (e *extents) use(i int32, n, size int) *extent {
	x := e.at(i) // as front does, without the call
	e.unlist(x)
	if x.len > n {
		e.list(e.split(i, n), free)
		x = e.at(i) // split may have moved it
	}
	x.state, x.excess, x.up = used, uint32(n-size), none
	return x
}

// split cuts i after n bytes and returns the rest, which is in no list.
func (e *extents) split(i int32, n int) int32 {
	x := e.at(i)
	r := e.record(x.seg, x.off+n, x.len-n)
	x = e.at(i) // record may have moved it
	rest := e.at(r)
	rest.prev, rest.next, rest.stamp, rest.side = i, x.next, x.stamp, x.side
	if x.next != none {
		e.at(x.next).prev = r
	}
	x.next, x.len = r, n
	return r
}

// splitFront cuts i, which is in no list and not used, after n bytes and returns the front.
func (e *extents) splitFront(i int32, n int) int32 {
	f := e.record(e.at(i).seg, e.at(i).off, n)
	x, front := e.at(i), e.at(f)
	front.prev, front.next, front.stamp = x.prev, i, x.stamp
	if x.prev != none {
		e.at(x.prev).next = f
	}
	x.prev, x.off, x.len = f, x.off+n, x.len-n
	return f
}

// join adds the bytes of a neighbour.
func (x *extent) join(y *extent) {
	if y.len > x.len {
		x.side = y.side
	}
	x.len += y.len
}

// merge gives i, which is in no list, a state that has an index, joins it
// with its neighbours of the same state, and returns the whole.
func (e *extents) merge(i int32, s state) int32 {
	x := e.at(i)
	if n := x.next; n != none && e.at(n).state == s {
		y := e.at(n)
		e.unlist(y)
		x.join(y)
		e.forget(n)
	}
	if p := x.prev; p != none && e.at(p).state == s {
		y := e.at(p)
		e.unlist(y)
		y.join(x)
		e.forget(i)
		i, x = p, y
	}
	x.stamp = e.epoch
	e.list(i, s)
	return i
}
