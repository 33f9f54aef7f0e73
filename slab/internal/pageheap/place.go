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
