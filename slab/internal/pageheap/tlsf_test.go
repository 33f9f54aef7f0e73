package pageheap

import (
	"math/rand/v2"
	"testing"
)

func TestListsAreOrderedAndFittingOnesHold(t *testing.T) {
	last := -1
	for n := uint(1); n < 1<<14; n++ {
		l := listOf(n)
		if l < last || l > last+1 && last >= 0 && n > 1 {
			t.Fatalf("%d units are in list %d after %d", n, l, last)
		}
		last = l
		if f := fitting(n); f < l || f > l+1 || listOf(n-1) >= f && n > 1 {
			t.Fatalf("%d units: list %d, fitting %d", n, l, f)
		}
	}
	for n := uint(1); n < 1<<12; n++ {
		for m := n; m < n+n/8; m++ {
			if listOf(m) >= fitting(n) && m < n {
				t.Fatalf("list %d holds %d, less than %d", fitting(n), m, n)
			}
		}
	}
}

// find never misses an extent that is among the first 32 of its list or larger.
func TestFindSeesWhatFits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		e := newExtents(16)
		var most int
		for s := range int32(1 + r.IntN(30)) {
			n := 16 * (1 + r.IntN(1<<r.IntN(12)))
			most = max(most, n)
			e.appendTop(e.segment(s), n, free)
		}
		for n := 16; n <= most; n += 16 * (1 + most/500) {
			if i := e.find(free, n); i == none || e.at(i).len < n {
				t.Fatalf("%d bytes are free, none found for %d", most, n)
			}
		}
		if e.find(free, most+16) != none {
			t.Fatalf("found more than %d bytes", most)
		}
	}
}

func TestEachVisitsEveryExtentOnce(t *testing.T) {
	e := newExtents(16)
	for s := range int32(100) {
		e.appendTop(e.segment(s), 16*int(1+s), free)
	}
	seen := map[int32]int{}
	for i := range e.each(free, 0) {
		seen[i]++
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 visited", len(seen))
	}
	for i := range e.each(free, 0) { // a loop may end early
		if i != none {
			break
		}
	}
	if i := e.largest(free); listOf(uint(e.at(i).len/16)) != listOf(100) {
		t.Errorf("the largest has %d bytes", e.at(i).len)
	}
	if e.largest(decommitted) != none {
		t.Error("one is decommitted")
	}
}

// deep returns extents of one list: the last one has n bytes, and others before it have fewer.
func deep(n, others int) (e extents) {
	e = newExtents(16)
	e.appendTop(e.segment(0), n, free)
	for k := range others {
		e.appendTop(e.segment(int32(k+1)), n-16, free)
	}
	return e
}

// find does not look at all extents of a list, which may be thousands. To scan all takes an own call.
func TestFindEnds(t *testing.T) {
	const n = 1025 * 16 // of the list from 1024 units on
	for others, want := range map[int]bool{0: true, 2: true, 1000: false} {
		e := deep(n, others)
		if i := e.find(free, n); (i != none) != want {
			t.Errorf("behind %d shorter extents: %d", others, i)
		}
		if i := e.scan(free, e.listFor(n), n, maxInt); i == none || e.at(i).len != n {
			t.Errorf("behind %d shorter extents not even a scan of all finds one", others)
		}
	}
}
