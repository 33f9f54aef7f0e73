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
		var x [2]slabIndex
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
			x[s.seg].put(s.off, s.n, i)
			live = append(live, i)
		}
		for range 600 {
			if len(live) > 0 && r.IntN(3) == 0 { // one goes, and its place is taken
				k := r.IntN(len(live))
				old := slabs[live[k]]
				x[old.seg].remove(old.off, old.n)
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
					if got := x[s.seg].get(off, start); got != i {
						t.Fatalf("byte %d of segment %d is in slab %d %+v, not in %d %+v", off, s.seg, i, s, got, slabs[got])
					}
				}
			}
		}
	}
}

func TestSlabIndexKnowsNothingOfOtherPlaces(t *testing.T) {
	var x slabIndex
	x.put(1024, 512, 9)
	for _, off := range []int{0, 1023, 1536, 1 << 28, -1} {
		if i := x.get(off, func(int32) int { return 1024 }); i != none {
			t.Errorf("byte %d is in slab %d", off, i)
		}
	}
}
