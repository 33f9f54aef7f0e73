package slab

// A slabIndex finds the slab that a byte of a segment lies in. Slabs are
// at least a granule long, so within one granule at most one slab begins after
// the first byte, and at most one covers the first byte: two words a granule
// say it all.
type slabIndex map[place]*slabLeaf

type slabLeaf [leafGranules]struct{ covers, begins int32 }

const (
	granule      = minSlabBytes
	leafGranules = 128
	leafBytes    = granule * leafGranules
)

func (x slabIndex) leaf(seg int32, off int, make bool) *slabLeaf {
	p := place{seg, off / leafBytes}
	l := x[p]
	if l == nil && make {
		l = new(slabLeaf)
		x[p] = l
	}
	return l
}

// put says that slab i covers n bytes from off of seg; remove that none does.
func (x slabIndex) put(seg int32, off, n int, i int32) {
	if off%granule != 0 {
		x.leaf(seg, off, true)[off/granule%leafGranules].begins = i
	}
	for o := roundUp(off, granule); o < off+n; o += granule {
		x.leaf(seg, o, true)[o/granule%leafGranules].covers = i
	}
}

func (x slabIndex) remove(seg int32, off, n int) { x.put(seg, off, n, none) }

// get returns the slab that off of seg may lie in, none if there is none;
// start tells where a slab begins.
func (x slabIndex) get(seg int32, off int, start func(int32) int) int32 {
	l := x.leaf(seg, off, false)
	if l == nil || off < 0 {
		return none
	}
	g := l[off/granule%leafGranules]
	if g.begins != none && start(g.begins) <= off {
		return g.begins
	}
	return g.covers
}
