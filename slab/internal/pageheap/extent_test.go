package pageheap

import (
	"math/rand/v2"
	"testing"
)

func TestExtentsSplitAndMergeLikeAModel(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := newExtents(16)
		var ends []int32
		for s := range int32(3) {
			ends = append(ends, e.segment(s))
			e.appendTop(ends[s], 1<<16, free)
		}
		var out []int32
		for range 3000 {
			switch k := r.IntN(20); {
			case k == 0:
				e.appendTop(ends[r.IntN(3)], 16*(1+r.IntN(1000)), free)
			case k < 11:
				n := 16 * (1 + r.IntN(1<<r.IntN(10)))
				if i := e.find(free, n); i != none {
					if e.at(i).len < n {
						t.Fatalf("found %d bytes for %d", e.at(i).len, n)
					}
					e.use(i, n, n)
					out = append(out, i)
				}
			case len(out) > 0:
				e.merge(takeAt(&out, r.IntN(len(out))), free)
			}
			if err := e.check(ends...); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range out {
			e.merge(i, free)
		}
		if e.index[free].count != 3 {
			t.Errorf("%d free extents in 3 empty segments", e.index[free].count)
		}
	}
}

// What is used has its own bytes, and the rest of a split keeps its age.
func TestSplitKeepsTheAgeOfTheRest(t *testing.T) {
	e := newExtents(16)
	e.appendTop(e.segment(0), 160, free)
	e.epoch = 7
	i := e.find(free, 16)
	e.use(i, 16, 9)
	if c := e.at(e.at(i).next); c.stamp != 0 || c.len != 144 {
		t.Errorf("the rest is %+v", *c)
	}
	if j := e.merge(i, free); e.at(j).stamp != 7 || e.at(j).len != 160 {
		t.Errorf("merged, it is %+v", *e.at(j))
	}
}

// The front of an extent is a neighbour of what was below it.
func TestSplitFrontLinksTheFront(t *testing.T) {
	e := newExtents(16)
	end := e.segment(0)
	e.appendTop(end, 64, free)
	below := e.find(free, 16)
	e.use(below, 16, 16)
	x := e.find(free, 48)
	e.use(x, 48, 48)
	f := e.splitFront(x, 16)
	e.at(f).state = used
	if err := e.check(end); err != nil || e.at(below).next != f || e.at(f).len != 16 || e.at(x).len != 32 {
		t.Errorf("%v: the front is %+v, the rest %+v", err, *e.at(f), *e.at(x))
	}
}
