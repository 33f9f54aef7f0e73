package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
)

// A page that quarantine shares only with free memory is unusable: it cannot go back as free pages
// do. So it goes back as quarantine does, and its free memory is lost. When a used extent goes into
// quarantine this is done at once, except for free memory with whole pages: such memory is still
// usable, and would become too short for the next block of its size. A Free next to quarantine does
// not look. isolateEdge does the rest when free memory goes back, which is before a Get fails. After
// FreeHeld no such page is left.

// unused returns the pages that extent i covers together with free or quarantined neighbours: the
// pages that it begins and ends in, if no used extent is on them, and all between. There are none if
// hi is not above lo. Unless all is true, free memory with whole pages counts as used.
func (m *memory) unused(i int32, all bool) (lo, hi int) {
	x := m.at(i)
	page := m.pageOf(x.seg)
	lo, hi = align.Down(x.off, page), align.Up(x.off+x.len, page)
	bottom, top := x.off, x.off+x.len
	for p := x.prev; bottom > lo && m.isLost(p, all); p = m.at(p).prev {
		bottom = m.at(p).off
	}
	for n := x.next; top < hi && m.isLost(n, all); n = m.at(n).next {
		top = m.at(n).off + m.at(n).len
	}
	lo = align.Up(max(bottom, lo), page)
	if seg := &m.segs[x.seg]; seg.rng == nil && lo < top && top == seg.block.Len && top <= hi && m.owns {
		return lo, seg.block.Region.Size() // it may be more than was asked for
	}
	return lo, align.Down(min(top, hi), page)
}

// isLost reports whether extent i is in quarantine, or may be lost to quarantine next to it. If
// pages cannot be given up no free memory is lost.
func (m *memory) isLost(i int32, all bool) bool {
	x := m.at(i)
	if x.state != free {
		return x.state == quarantined
	}
	page := m.pageOf(x.seg)
	return m.segs[x.seg].givesUp() && (all || align.Up(x.off, page) >= align.Down(x.off+x.len, page))
}

// onlyLost reports whether the segment has extents in quarantine, and no other used extents.
func (s *segment) onlyLost() bool { return s.isolated > 0 && s.used == s.isolated }

// givesUp reports whether pages of the segment can go back for good.
func (s *segment) givesUp() bool {
	_, ok := s.block.Region.(device.Quarantiner)
	return ok
}

// pageOf returns the granularity in which pages of a segment go back.
func (m *memory) pageOf(s int32) int {
	if r := m.segs[s].rng; r != nil {
		return r.Page()
	}
	return m.unit()
}

// seize takes the part of the free extent i in [lo, hi) out of the index, counts it as used, and
// returns it. If there is a rest on only one side, the rest is still i.
func (m *memory) seize(i int32, lo, hi int) int32 {
	if off := m.at(i).off; off < lo {
		i = m.cut(i, lo-off)
	}
	x := m.at(i)
	m.unlist(x)
	m.segs[x.seg].used++
	if x.off+x.len > hi {
		rest := i
		i = m.splitFront(i, hi-x.off)
		m.list(rest, free)
	}
	return i
}

// A loss is pages in quarantine that go back for good; none if n is 0.
type loss struct {
	segment
	seg    int32
	off, n int
}

// isolate makes i, which is in no list and counts as used, a part of the quarantine. With it goes
// free memory next to it on pages that have nothing else: see unused.
func (m *memory) isolate(i int32, all bool) loss {
	x := m.at(i)
	from, to := x.off, x.off+x.len
	s := x.seg
	lo, hi := m.unused(i, all)
	i = m.join(i)
	for lo < hi && m.at(i).off > lo {
		i = m.join(m.seize(m.at(i).prev, lo, hi))
	}
	for x = m.at(i); lo < hi && m.at(x.next).state == free && x.off+x.len < hi; x = m.at(i) {
		i = m.join(m.seize(x.next, lo, hi))
	}
	m.segs[s].pages.forget(max(x.off, from-leafBytes), min(x.off+x.len, to+leafBytes))
	return loss{m.segs[s], s, lo, max(0, hi-lo)}
}

// join puts i into quarantine, merges it with its neighbours there, and returns the whole.
func (m *memory) join(i int32) int32 {
	x := m.at(i)
	x.state = quarantined
	m.isolated += int64(x.len)
	seg := &m.segs[x.seg]
	seg.isolated++
	if n := x.next; m.at(n).state == quarantined {
		x.len += m.at(n).len
		m.forget(n)
		seg.used, seg.isolated = seg.used-1, seg.isolated-1
	}
	if p := m.at(i).prev; m.at(p).state == quarantined {
		m.at(p).len += m.at(i).len
		m.forget(i)
		seg.used, seg.isolated = seg.used-1, seg.isolated-1
		return p
	}
	return i
}

// isolateUsed puts the used extent i into quarantine.
func (m *memory) isolateUsed(i int32) loss {
	m.unmapUsed(i)
	return m.isolate(i, false)
}

// isolateEdge puts the parts of the free extent i on unusable pages into quarantine.
func (m *memory) isolateEdge(i int32) (l loss) {
	x := m.at(i)
	if x.state != free || !m.segs[x.seg].givesUp() {
		return l
	}
	page := m.pageOf(x.seg)
	lo, hi := m.unused(i, true)
	switch {
	case hi <= lo:
	case lo < x.off:
		return m.isolate(m.seize(i, lo, lo+page), true)
	case hi > x.off+x.len && m.at(x.next).state == quarantined:
		return m.isolate(m.seize(i, align.Down(x.off+x.len, page), hi), true)
	}
	return l
}

// isolateRest puts the free extent i into quarantine if it can go back in no other way: its segment,
// no range, has nothing else but quarantine.
func (m *memory) isolateRest(i int32) (l loss) {
	x := m.at(i)
	if seg := &m.segs[x.seg]; x.state != free || seg.rng != nil || !seg.onlyLost() || !seg.givesUp() {
		return l
	}
	return m.isolate(m.seize(i, 0, maxInt), true)
}

// abandon puts a decommitted extent of range s into quarantine if the range has no other used extent.
// It returns the extent's place, and no bytes if there is no such extent.
func (m *memory) abandon(s int32) (off, n int) {
	seg := &m.segs[s]
	if !seg.onlyLost() {
		return 0, 0
	}
	i := m.top(s)
	for i != none && m.at(i).state != decommitted {
		i = m.at(i).prev
	}
	if i == none {
		return 0, 0
	}
	off, n = m.at(i).off, m.at(i).len
	m.isolate(m.seize(i, off, off+n), false)
	m.isolated -= int64(n) // there is no memory behind it
	seg.lost += int64(n)
	return off, n
}
