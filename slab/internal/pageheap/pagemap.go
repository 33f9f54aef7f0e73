package pageheap

import "github.com/bufslab/bufslab/slab/internal/align"

// A pageMap says for each page of a segment which used extent is the first that
// begins there. The others follow by address. Leaves are made where extents are
// used, and stay.
type pageMap []*leaf

type leaf [1 << leafShift]int32

const (
	pageShift = 12
	leafShift = 9
	leafBytes = 1 << (pageShift + leafShift) // that a leaf has the pages of
	// MaxSpanBytes is the most that an extent with a span may have: a block
	// within it is found if it begins within that many bytes of its extent.
	MaxSpanBytes = 4 << pageShift
)

// entry returns the place for the page that off lies in.
func (m *pageMap) entry(off int) *int32 {
	page := off >> pageShift
	k := page >> leafShift
	if more := k + 1 - len(*m); more > 0 {
		*m = append(*m, make([]*leaf, more)...)
	}
	if (*m)[k] == nil {
		(*m)[k] = new(leaf)
	}
	return &(*m)[k][page&(1<<leafShift-1)]
}

// forget drops the leaves that lie in [lo, hi) entirely, where no extent is used.
func (m pageMap) forget(lo, hi int) {
	for k := align.Up(lo, leafBytes) / leafBytes; k < min(len(m), hi/leafBytes); k++ {
		m[k] = nil
	}
}

// first returns the first used extent that begins in a page, or none.
func (m pageMap) first(page int) int32 {
	k := page >> leafShift
	if k >= len(m) || m[k] == nil {
		return none
	}
	return m[k][page&(1<<leafShift-1)]
}

// mapUsed puts the extent i, which is used now, into the map of its segment.
func (h *Heap) mapUsed(i int32) {
	if !h.numbered {
		h.addToMap(i)
	}
}

func (h *Heap) addToMap(i int32) {
	x := h.at(i)
	seg := &h.segs[x.seg]
	first := seg.pages.entry(x.off)
	if *first == none {
		seg.begins.Grow(x.off >> pageShift)
		seg.begins.Set(x.off >> pageShift)
	}
	if *first == none || h.at(*first).off > x.off {
		*first = i
	}
}

// unmapUsed takes the used extent i out of the map.
func (h *Heap) unmapUsed(i int32) {
	if !h.numbered {
		h.takeFromMap(i)
	}
}

func (h *Heap) takeFromMap(i int32) {
	x := h.at(i)
	first := h.segs[x.seg].pages.entry(x.off)
	if *first != i {
		return
	}
	*first = none
	page := x.off >> pageShift
	for n := x.next; n != none && h.at(n).off>>pageShift == page; n = h.at(n).next {
		if h.at(n).state == used {
			*first = n
			return
		}
	}
	h.segs[x.seg].begins.Clear(page)
}

// lookup returns the used extent that off of a segment lies in, if it begins in
// the same page or is at most MaxSpanBytes long; else none.
func (h *Heap) lookup(seg int32, off int) int32 {
	m := h.segs[seg].pages
	page := off >> pageShift
	for p := page; p >= max(0, page-MaxSpanBytes>>pageShift); p-- {
		if i := m.first(p); i != none && h.at(i).off <= off {
			return h.walk(i, off)
		}
	}
	return none
}

// walk goes up from extent i to the one that off lies in, none if that is not used.
func (h *Heap) walk(i int32, off int) int32 {
	for ; i != none; i = h.at(i).next {
		if x := h.at(i); off < x.off+x.len {
			if x.state != used {
				return none
			}
			return i
		}
	}
	return none
}
