package slab

import (
	"math/rand/v2"
	"testing"
)

// Slabs of at least a granule tile parts of two segments; every byte of them
// is found, whatever came and went around it.
func TestSlabIndexLikeAModel(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 7))
		x := slabIndex{}
		type span struct {
			seg    int32
			off, n int
		}
		var slabs []span // by number
		var live []int32
		slabs = append(slabs, span{})
		ends := [2]int{}
		start := func(i int32) int { return slabs[i].off }
		add := func(s span) {
			slabs = append(slabs, s)
			i := int32(len(slabs) - 1)
			x.put(s.seg, s.off, s.n, i)
			live = append(live, i)
		}
		for range 600 {
			if len(live) > 0 && r.IntN(3) == 0 { // one goes, and its place is taken
				k := r.IntN(len(live))
				old := slabs[live[k]]
				x.remove(old.seg, old.off, old.n)
				live[k] = live[len(live)-1]
				live = live[:len(live)-1]
				if r.IntN(2) == 0 {
					add(old)
				}
			} else {
				g := r.IntN(2)
				s := span{int32(g), ends[g] + 16*r.IntN(3), granule + 16*r.IntN(1000)}
				ends[g] = s.off + s.n
				add(s)
			}
			for _, i := range live {
				s := slabs[i]
				for _, off := range []int{s.off, s.off + r.IntN(s.n), s.off + s.n - 1} {
					if got := x.get(s.seg, off, start); got != i {
						t.Fatalf("byte %d of segment %d is in slab %d %+v, not in %d %+v", off, s.seg, i, s, got, slabs[got])
					}
				}
			}
		}
	}
}

func TestSlabIndexKnowsNothingOfOtherSegments(t *testing.T) {
	x := slabIndex{}
	x.put(3, 1024, 512, 9)
	for _, c := range []struct {
		seg int32
		off int
	}{{2, 1024}, {3, 1023}, {3, 1 << 28}, {3, -1}} {
		if i := x.get(c.seg, c.off, func(int32) int { return 1024 }); i != none {
			t.Errorf("byte %d of segment %d is in slab %d", c.off, c.seg, i)
		}
	}
}
