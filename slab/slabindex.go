package slab

// A slabIndex finds the slab that a byte of a segment lies in. Slabs are
// at least a granule long, so within one granule at most one slab begins after
// the first byte, and at most one covers the first byte: two words a granule
// say it all. There are leaves where there are slabs, or were.
type slabIndex []*slabLeaf

type slabLeaf [leafGranules]struct{ covers, begins int32 }

const (
	granule      = minSlabBytes
	leafGranules = 128
	leafBytes    = granule * leafGranules
)

// leaf returns the one for off, and makes it if there is none.
func (x *slabIndex) leaf(off int) *slabLeaf {
	k := off / leafBytes
	if more := k + 1 - len(*x); more > 0 {
		*x = append(*x, make([]*slabLeaf, more)...)
	}
	if (*x)[k] == nil {
		(*x)[k] = new(slabLeaf)
	}
	return (*x)[k]
}

// put says that slab i covers n bytes from off; remove that none does.
func (x *slabIndex) put(off, n int, i int32) {
	if off%granule != 0 {
		x.leaf(off)[off/granule%leafGranules].begins = i
	}
	for o := roundUp(off, granule); o < off+n; o += granule {
		x.leaf(o)[o/granule%leafGranules].covers = i
	}
}

func (x *slabIndex) remove(off, n int) { x.put(off, n, none) }

// get returns the slab that off may lie in, none if there is none; start
// tells where a slab begins.
func (x slabIndex) get(off int, start func(int32) int) int32 {
	k := off / leafBytes
	if off < 0 || k >= len(x) || x[k] == nil {
		return none
	}
	g := x[k][off/granule%leafGranules]
	if g.begins != none && start(g.begins) <= off {
		return g.begins
	}
	return g.covers
}
