package slab

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// check verifies the geometry of the segments that end at the given edges,
// which are all that there are: chunks tile them, what can be merged is, and
// the index knows every free chunk and hole.
func (h *heap) check(edges ...int32) error {
	var seen [2]index
	records := 0
	for _, e := range edges {
		n, err := h.checkSegment(e, &seen)
		if err != nil {
			return err
		}
		records += n
	}
	if alive := len(h.chunks) - 1 - len(h.vacant); alive != records {
		return fmt.Errorf("%d records in use, %d in segments", alive, records)
	}
	for state := range h.index {
		x := &h.index[state]
		if x.count != seen[state].count || x.bytes != seen[state].bytes {
			return fmt.Errorf("index %d: %d bytes in %d chunks, but segments have %d in %d", state, x.bytes, x.count, seen[state].bytes, seen[state].count)
		}
		if err := h.checkIndex(uint8(state)); err != nil {
			return err
		}
	}
	if h.at(none).state != gone {
		return fmt.Errorf("record 0 is in state %d", h.at(none).state)
	}
	return nil
}

// checkSegment walks one segment down from its edge and returns its records.
func (h *heap) checkSegment(e int32, seen *[2]index) (records int, err error) {
	c := *h.at(e)
	if c.state != edge || c.next != none || c.len != 0 {
		return 0, fmt.Errorf("edge %d is %+v", e, c)
	}
	top, above := c.off, c
	records = 1
	for i, up := c.prev, e; i != none; i, up = h.at(i).prev, i {
		c := *h.at(i)
		switch {
		case c.off+c.len != top || c.len <= 0 || c.next != up || c.seg != above.seg:
			return 0, fmt.Errorf("chunk %d %+v below %+v", i, c, above)
		case c.state > used, c.off%h.align != 0, c.len%h.align != 0:
			return 0, fmt.Errorf("chunk %d %+v", i, c)
		case c.state == above.state && c.state != used:
			return 0, fmt.Errorf("neighbours of state %d: %+v and %+v", c.state, c, above)
		case c.state == hole && above.state == edge:
			return 0, fmt.Errorf("hole %+v at the edge", c)
		}
		if c.state != used {
			seen[c.state].count++
			seen[c.state].bytes += int64(c.len)
		}
		top, above = c.off, c
		records++
	}
	if top != 0 {
		return 0, fmt.Errorf("nothing below %d", top)
	}
	return records, nil
}

// checkIndex verifies that each list has the chunks that belong there, and
// that its count is what the lists have.
func (h *heap) checkIndex(state uint8) error {
	x := &h.index[state]
	var count int64
	for l, head := range x.heads {
		if set := x.lists.next(l) == l; set != (head != none) {
			return fmt.Errorf("list %d: bit %v, head %d", l, set, head)
		}
		for i, up := head, int32(none); i != none; i, up = h.at(i).down, i {
			if c := h.at(i); c.up != up || c.state != state || listOf(uint(c.len/h.align)) != l {
				return fmt.Errorf("chunk %d %+v in list %d of state %d", i, *c, l, state)
			}
			count++
		}
	}
	if count != x.count {
		return fmt.Errorf("index %d counts %d chunks, lists have %d", state, x.count, count)
	}
	return nil
}

func TestHeapSplitsAndMergesLikeAModel(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := newHeap(16)
		var edges []int32
		for s := range int32(3) {
			edges = append(edges, h.segment(s))
			h.extend(edges[s], 1<<16)
		}
		var out []int32
		for range 3000 {
			switch k := r.IntN(20); {
			case k == 0:
				h.extend(edges[r.IntN(3)], 16*(1+r.IntN(1000)))
			case k < 11:
				n := 16 * (1 + r.IntN(1<<r.IntN(10)))
				if i := h.find(free, n); i != none {
					if h.at(i).len < n {
						t.Fatalf("found %d bytes for %d", h.at(i).len, n)
					}
					h.use(i, n, n)
					out = append(out, i)
				}
			case len(out) > 0:
				k := r.IntN(len(out))
				h.merge(out[k], free)
				out[k] = out[len(out)-1]
				out = out[:len(out)-1]
			}
			if err := h.check(edges...); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range out {
			h.merge(i, free)
		}
		if h.index[free].count != 3 {
			t.Errorf("%d free chunks in 3 empty segments", h.index[free].count)
		}
	}
}

// What is used has its own bytes, and the rest of a split keeps its age.
func TestSplitKeepsTheAgeOfTheRest(t *testing.T) {
	h := newHeap(16)
	e := h.segment(0)
	h.extend(e, 160)
	h.epoch = 7
	i := h.find(free, 16)
	h.use(i, 16, 9)
	if c := h.at(h.at(i).next); c.stamp != 0 || c.len != 144 {
		t.Errorf("the rest is %+v", *c)
	}
	if j := h.merge(i, free); h.at(j).stamp != 7 || h.at(j).len != 160 {
		t.Errorf("merged, it is %+v", *h.at(j))
	}
}

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

// find never misses a chunk that is among the first 32 of its list or larger.
func TestFindSeesWhatFits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		h := newHeap(16)
		var most int
		for s := range int32(1 + r.IntN(30)) {
			n := 16 * (1 + r.IntN(1<<r.IntN(12)))
			most = max(most, n)
			h.extend(h.segment(s), n)
		}
		for n := 16; n <= most; n += 16 * (1 + most/500) {
			if i := h.find(free, n); i == none || h.at(i).len < n {
				t.Fatalf("%d bytes are free, none found for %d", most, n)
			}
		}
		if h.find(free, most+16) != none {
			t.Fatalf("found more than %d bytes", most)
		}
	}
}

func TestEachVisitsEveryChunkOnce(t *testing.T) {
	h := newHeap(16)
	for s := range int32(100) {
		h.extend(h.segment(s), 16*int(1+s))
	}
	seen := map[int32]int{}
	h.each(free, func(i int32) bool { seen[i]++; return true })
	if len(seen) != 100 {
		t.Errorf("%d of 100 visited", len(seen))
	}
	n := 0
	h.each(free, func(int32) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("%d visited after it was told to stop at 3", n)
	}
	if i := h.largest(free); listOf(uint(h.at(i).len/16)) != listOf(100) {
		t.Errorf("the largest has %d bytes", h.at(i).len)
	}
	if h.largest(hole) != none {
		t.Error("there is a hole")
	}
}
