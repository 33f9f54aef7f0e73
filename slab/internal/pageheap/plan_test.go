package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Among equal blocks a growth passes what is needed by whole blocks of a 32nd of the heap, and for a small block by a
// first step at least; never by more than the policy wants. While calls are scarce it may reach the old peak.
func TestStepsAmongEqualBlocks(t *testing.T) {
	const budget = 4 // calls of a heap without history
	for _, c := range []struct {
		n, need, step int
		managed, high int64
		calls         int64
		want          int
	}{
		{page, page, mib, 4 * mib, 0, 0, page + 128<<10},
		{page, page, mib, 1 * mib, 0, 0, page + firstStep},
		{50 * page, 50 * page, 52 * page, mib, 0, 0, 52 * page},
		{mib, mib, 8 * mib, 12 * mib, 0, 0, mib},
		{mib, mib / 2, 8 * mib, 12 * mib, 0, 0, mib / 2},
		{mib, mib, 8 * mib, 64 * mib, 0, 0, 3 * mib},
		{mib, mib, 2 * mib, 64 * mib, 0, 0, 2 * mib},
		{largeBlock, largeBlock, 8 * mib, 12 * mib, 0, 0, 2 * largeBlock},
		{mib, mib, 9 * mib, 12 * mib, 20 * mib, budget, 8 * mib},
		{mib, mib, 9 * mib, 12 * mib, 20 * mib, budget - 1, mib},
		{mib, mib, 9 * mib, 64 * mib, 66 * mib, budget, 3 * mib},
	} {
		p, _ := onRange()
		p.managed, p.policy.high, p.policy.calls = c.managed, c.high, c.calls
		if got := p.equalStep(c.n, c.need, c.step, page); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Decommitted pages that are too few alone serve together with the free memory before them, where no other memory
// is free.
func TestFewDecommittedPagesServeWithFreeMemoryBeforeThem(t *testing.T) {
	p, up := onRange()
	if err := p.Prefill(4 * page); err != nil {
		t.Fatal(err)
	}
	p.mustAlloc(t, page/2)
	b := p.mustAlloc(t, page+page/2)
	p.mustAlloc(t, 2*page)
	p.free(b)
	p.FreeHeld()
	if up.Bytes != 3*page {
		t.Fatalf("%d bytes upstream", up.Bytes)
	}
	if again := p.mustAlloc(t, page+page/2); again != b || up.Top != 4*page {
		t.Errorf("%+v, where %+v was; memory up to %d", again, b, up.Top)
	}
}

// A segment has twice what a small block needs, and what a large one needs with as many more as are a 32nd of the heap.
// One of page-locked memory has 64 KiB at least. Beyond is what takes the heap past its peak, if it had one.
func TestSizesOfSegments(t *testing.T) {
	for _, c := range []struct {
		n             int
		o             Options
		managed, high int64
		size          int
		over          int64
	}{
		{100, Options{Locked: true}, 0, 0, 64 << 10, 0},
		{100_000, Options{Locked: true}, 0, 0, 100_000, 0},
		{100, Options{Locked: true, MaxHeld: -1}, 0, 0, 4 << 10, 0},
		{100_000, Options{}, mib, 0, 49 * 4096, 0},
		{100_000, Options{MaxHeld: -1}, mib, 0, 25 * 4096, 0},
		{largeBlock, Options{}, mib, 0, largeBlock, 0},
		{mib, Options{}, 64 * mib, 64 * mib, 3 * mib, 3 * mib},
		{mib, Options{}, 64 * mib, 65 * mib, mib, 0},
	} {
		p := start(new(source), c.o)
		p.managed, p.policy.high = c.managed, c.high
		if c.n == mib { // a program that adds memory
			p.policy.rate, p.policy.count = mib, 1000
		}
		if size, over := p.segmentSize(c.n); size != c.size || over != c.over {
			t.Errorf("%+v: %d, %d", c, size, over)
		}
	}
}

// A planned is what planAfter says of n bytes for an extent at the beginning of a range.
type planned struct {
	n, need, off, len int
	extent            int32
	ok                bool
}

func (c planned) want(t *testing.T, p *program, i int32) {
	t.Helper()
	got, need, ok := p.planAfter(i, c.n, true)
	if ok != c.ok || need != c.need || got.off != c.off || got.len != c.len || got.extent != c.extent {
		t.Errorf("%+v: %+v, %d, %t", c, got, need, ok)
	}
}

// Behind an extent and the free memory after it decommitted pages serve, if they are enough.
func TestPlansForDecommittedPagesAfterAnExtent(t *testing.T) {
	p, up := onRange()
	if err := p.Prefill(10 * page); err != nil {
		t.Fatal(err)
	}
	b, behind, gone := p.mustAlloc(t, 4*page), p.mustAlloc(t, 2*page), p.mustAlloc(t, 3*page)
	p.mustAlloc(t, page)
	k, _ := p.Locate(gone, 0)
	p.free(gone)
	p.release(k)
	p.free(behind)
	i, _ := p.Locate(b, 0)
	for _, c := range []planned{
		{6*page - 16, -16, 0, 0, none, true},
		{6 * page, 0, 0, 0, none, true},
		{6*page + 16, 16, 6 * page, page, k, true},
		{9 * page, 3 * page, 6 * page, 3 * page, k, true},
		{9*page + 16, 3*page + 16, 6 * page, 4 * page, k, false},
	} {
		c.want(t, p, i)
	}
	if err := p.commitAfter(i, 6*page, false); err != nil || up.Calls != 1 {
		t.Errorf("%v, %d calls for what is free", err, up.Calls)
	}
}

// At the end of a range as many addresses serve as it has for certain, and where the upstream has memory more than
// what is missing is asked for.
func TestPlansForTheEndOfARange(t *testing.T) {
	p := start(&pages{RangeBytes: 16 * page}, Options{})
	if err := p.Prefill(5 * page); err != nil {
		t.Fatal(err)
	}
	i, _ := p.Locate(p.mustAlloc(t, 4*page), 0)
	for _, c := range []planned{
		{5 * page, 0, 0, 0, none, true},
		{5*page + 16, 16, 5 * page, page, none, true},
		{15 * page, 10 * page, 5 * page, 10 * page, none, true},
		{15*page + 16, 10*page + 16, 5 * page, 11 * page, none, false},
	} {
		c.want(t, p, i)
	}
	if got, _, ok := p.planAfter(i, 5*page+16, false); !ok || got.len != 11*page {
		t.Errorf("%+v, %t", got, ok) // a first step, and no further than the range
	}
}

// Behind an extent of a segment, or a used one, is nothing to ask for.
func TestNothingIsPlannedAfterASegment(t *testing.T) {
	p := start(new(source), Options{})
	if err := p.Prefill(5 * page); err != nil {
		t.Fatal(err)
	}
	i, _ := p.Locate(p.mustAlloc(t, 4*page), 0)
	planned{5 * page, 0, 0, 0, none, true}.want(t, p, i)
	planned{5*page + 16, 16, 0, 0, none, false}.want(t, p, i)
}

// Before a growth at the top pages go that make good for half of what is missing there, if it makes a new peak; on a
// lazy range within the budget.
func TestWorthDecommitting(t *testing.T) {
	for _, c := range []struct {
		hole, tail int // free bytes below, and at the top
		n          int
		more       int64 // bytes up to the old peak
		calls      int64 // of a lazy range
		want       bool
	}{
		{hole: 16 * page, tail: 4 * page, n: 4*page + 16, want: true},
		{hole: 16 * page, tail: 4 * page, n: 4 * page},
		{hole: 0, tail: 4 * page, n: 8 * page},
		{hole: 16 * page, n: page, more: page},
		{hole: 16 * page, n: page + 16, more: page, want: true},
		{hole: 16 * page, n: 32 * page, want: true},
		{hole: 16 * page, n: 33 * page},
		{hole: page, n: 16, want: true},
		{hole: page - 16, n: 16},
		{hole: 16 * page, n: 32 * page, calls: 3, want: true},
		{hole: 16 * page, n: 32 * page, calls: 4},
	} {
		p, up := onRange()
		if err := p.Prefill(c.hole + page + c.tail); err != nil {
			t.Fatal(err)
		}
		b := p.mustAlloc(t, max(c.hole, 16))
		p.mustAlloc(t, p.freeLen(p.largest(free))-c.tail)
		if c.hole > 0 {
			p.free(b)
		}
		if c.calls > 0 {
			up.Ahead = mib
		}
		if p.managed < firstStep { // not as a heap that begins
			p.managed = firstStep
		}
		p.policy.high, p.policy.calls = p.managed+c.more, c.calls
		got := p.worthDecommitting(c.n) != none
		if counted := p.policy.calls > c.calls; got != c.want || counted != (got && c.calls > 0) {
			t.Errorf("%+v: %t, counted %t", c, got, counted)
		}
	}
}

// Of many decommitted extents behind equally large free ones some are looked at: a heap may have thousands.
func TestAFewDecommittedExtentsAreLookedAt(t *testing.T) {
	const many = 100
	p, _ := onRange()
	if err := p.Prefill(3 * many * page); err != nil {
		t.Fatal(err)
	}
	var before, gone []device.Block
	for range many {
		before, gone = append(before, p.mustAlloc(t, page)), append(gone, p.mustAlloc(t, page))
		p.mustAlloc(t, page)
	}
	p.freeAll(gone)
	p.FreeHeld()
	p.freeAll(before)
	looked := 0
	p.eachDecommitted(10*page, func(i int32) {
		if looked++; p.at(i).state != decommitted {
			t.Errorf("%+v is not decommitted", *p.at(i))
		}
	})
	if looked == 0 || looked > many/2 {
		t.Errorf("%d of %d extents were looked at", looked, many)
	}
}
