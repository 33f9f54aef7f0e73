package pageheap

import "github.com/bufslab/bufslab/device"

// Locate returns the used extent that b lies in, 0 if there is none, and the
// offset of b in the extent. A guess other than 0 is the only extent looked at.
// The caller holds the lock.
func (m *memory) Locate(b device.Block, guess int32) (i int32, off int) {
	if i = m.extentOf(b, guess); !m.inUse(i) {
		return none, 0
	}
	x := m.at(i)
	in := &m.segs[x.seg].block
	off = b.Off - in.Off - x.off
	if b.Region != in.Region || off < 0 || off > x.len-b.Len {
		return none, 0
	}
	return i, off
}

// extentOf returns the guess, or the result of search if there is no guess.
func (m *memory) extentOf(b device.Block, guess int32) int32 {
	if guess != none {
		return guess
	}
	return m.search(b)
}

// search returns the used extent that b begins in, if the extent begins in the same page or is at
// most MaxSpanBytes long; else none.
func (m *memory) search(b device.Block) int32 {
	s, ok := m.regions.Find(b)
	if !ok {
		return none
	}
	seg := &m.segs[s]
	off := b.Off - seg.block.Off
	page := off >> pageShift
	for p := page; p >= max(0, page-MaxSpanBytes>>pageShift); p-- {
		if i := seg.pages.first(p); i != none && m.at(i).off <= off {
			return m.walk(i, off)
		}
	}
	return none
}

// Block returns size bytes from off of extent i as a block of the upstream's
// region. The caller holds the lock.
func (m *memory) Block(i int32, off, size int) device.Block {
	x := m.at(i)
	seg := m.segs[x.seg].block
	return device.Block{Region: seg.Region, Off: seg.Off + x.off + off, Len: size}
}

// Len returns the bytes of extent i, Size the bytes that Alloc was asked for.
// The caller holds the lock.
func (m *memory) Len(i int32) int { return m.at(i).len }

// Size returns the bytes that Alloc was asked for when it returned extent i. The caller holds the lock.
func (m *memory) Size(i int32) int { return m.at(i).len - int(m.at(i).excess) }

// SetSpan gives the used extent i a number of the owner's, above 0: the extent is a
// span of smaller blocks, until Free. The caller holds the lock.
func (m *memory) SetSpan(i, span int32) { m.at(i).up = span }

// Span returns the number that SetSpan gave extent i, or 0. The caller holds the lock.
func (m *memory) Span(i int32) int32 { return m.at(i).up }

// mapUsed puts the used extent i into the map of its segment.
func (m *memory) mapUsed(i int32) {
	if !m.numbered {
		m.addToMap(i)
	}
}

func (m *memory) addToMap(i int32) {
	x := m.at(i)
	seg := &m.segs[x.seg]
	first := seg.pages.entry(x.off)
	if *first == none || m.at(*first).off > x.off {
		*first = i
	}
}

// unmapUsed takes the used extent i out of the map.
func (m *memory) unmapUsed(i int32) {
	if !m.numbered {
		m.takeFromMap(i)
	}
}

func (m *memory) takeFromMap(i int32) {
	x := m.at(i)
	first := m.segs[x.seg].pages.entry(x.off)
	if *first != i {
		return
	}
	*first = none
	page := x.off >> pageShift
	for n := x.next; n != none && m.at(n).off>>pageShift == page; n = m.at(n).next {
		if m.at(n).state == used {
			*first = n
			return
		}
	}
}

// walk goes up from extent i to the extent that off lies in, none if that extent is not used.
func (e *extents) walk(i int32, off int) int32 {
	for ; i != none; i = e.at(i).next {
		if x := e.at(i); off < x.off+x.len {
			if x.state != used {
				return none
			}
			return i
		}
	}
	return none
}
