package pageheap

import "github.com/bufslab/bufslab/slab/internal/align"

// A pageMap has for each page of a segment the first used extent that begins there.
// The others follow by address. Leaves are made where extents are used, and stay.
type pageMap []*leaf

type leaf [1 << leafShift]int32

const (
	pageShift = 12
	leafShift = 9
	leafBytes = 1 << (pageShift + leafShift) // bytes of the pages of a leaf
	// MaxSpanBytes is the most bytes of an extent with a span: a block within it
	// is found if it begins within that many bytes of its extent.
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

// forget drops the leaves that lie entirely in [lo, hi), where no extent is used.
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
