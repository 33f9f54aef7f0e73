package pageheap

import "github.com/bufslab/bufslab/slab/internal/align"

// AllocFree is Alloc that does not go upstream: it returns 0 if no free extent fits. The caller
// holds the lock.
func (m *memory) AllocFree(size int) int32 {
	n := align.Up(size, m.align)
	i := int32(none)
	if n < sidedFrom {
		i = m.find(free, n)
	} else {
		i = m.findNear(n)
	}
	if i == none {
		return none
	}
	return m.take(i, n, size)
}

// take makes n bytes of the free extent i used.
func (m *memory) take(i int32, n, size int) int32 {
	x := m.use(i, n, size)
	m.segs[x.seg].used++
	m.notePeak()
	m.mapUsed(i)
	return i
}

// AllocAt returns a used extent of at least size bytes at offset off of the first segment,
// or none if these bytes are not free. It never goes upstream. The heap must not be Numbered,
// and the caller holds the lock.
func (m *memory) AllocAt(off, size int) int32 {
	n := align.Up(size, m.align)
	i := m.freeAt(off, n)
	if i == none {
		return none
	}
	if front := off - m.at(i).off; front > 0 {
		i = m.cut(i, front)
	}
	return m.take(i, n, size)
}

// freeAt returns the free extent of the first segment that has n bytes from off on, or none.
// It goes down from the next page in which a used extent begins.
func (m *memory) freeAt(off, n int) int32 {
	if len(m.segs) == 0 || m.segs[0].end == none || off < 0 || off&(m.align-1) != 0 {
		return none
	}
	seg := &m.segs[0]
	i := seg.end
	if page := seg.begins.Next(off>>pageShift + 1); page >= 0 {
		i = seg.pages.first(page)
	}
	for i = m.at(i).prev; i != none && m.at(i).off > off; i = m.at(i).prev {
	}
	if m.freeLen(i)-n < off-m.at(i).off {
		return none
	}
	return i
}

// absorb moves n bytes from the free extent after i to i. No used extent begins elsewhere then, so
// the page map does not change.
func (m *memory) absorb(i int32, n int) {
	if n <= 0 {
		return
	}
	next := m.at(i).next
	m.front(next, n)
	m.at(i).len += n
	m.forget(next)
	m.notePeak()
}
