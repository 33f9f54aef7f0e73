package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// On a lazy range a heap commits what it needs and no more, and takes no call for what is
// ready.
func TestLazyRangesGrowByWhatIsNeeded(t *testing.T) {
	up := &pages{RangeBytes: 64 << 20, Ahead: 1 << 20}
	p := start(up, Options{})
	for n := range 257 { // all that the call makes ready
		p.mustAlloc(t, page)
		if want := int64(n+1) * page; p.managed != want || up.Bytes != want {
			t.Fatalf("%d bytes managed, %d committed, for %d", p.managed, up.Bytes, want)
		}
	}
	if up.Calls != 1 || p.policy.calls != 1 {
		t.Errorf("%d calls, %d counted, for what one makes ready", up.Calls, p.policy.calls)
	}
	p.mustCheck(t, &up.Source)
}

// There a decommit is the call that counts: no more of them than misses may be.
func TestDecommitsOfLazyRangesAreWithinTheBudget(t *testing.T) {
	up := &pages{RangeBytes: 1 << 30, Ahead: 1 << 30}
	p := start(up, Options{MissTarget: 0.01})
	const n = 4000
	var live []device.Block
	for i := range n {
		live = append(live, p.mustAlloc(t, page))
		if i%4 == 3 { // a hole that the next block, which is larger, does not fit
			p.free(takeAt(&live, len(live)-2))
			live = append(live, p.mustAlloc(t, 2*page))
		}
	}
	if most := n*5/4/100 + earlyCalls; up.Decommits == 0 || up.Decommits > most {
		t.Errorf("%d decommits in %d allocations, want at most %d", up.Decommits, n*5/4, most)
	}
	p.mustCheck(t, &up.Source)
}

// There free pages go before the heap passes its old peak only for a growth by a sixteenth or more.
func TestLazyRangesDecommitForMuch(t *testing.T) {
	for _, c := range []struct {
		hole, need, want int // pages
	}{{6, 8, 64}, {3, 4, 64}, {2, 3, 67}} {
		up := &pages{RangeBytes: 64 << 20, Ahead: 64 << 20}
		p := start(up, Options{})
		live := fill(t, p, 64)
		for i := 0; i < 48; i += 2 * c.hole {
			p.freeAll(live[i : i+c.hole])
		}
		p.mustAlloc(t, c.need*page) // more than any hole has
		if got := int(p.policy.high / page); got != c.want {
			t.Errorf("%+v: a peak of %d pages, want %d", c, got, c.want)
		}
		p.mustCheck(t, &up.Source)
	}
}

// Before it passes its old peak a heap has others free what nobody needs, and looks again.
// It asks once for each 128th part that it grows by.
func TestOthersFreeBeforeThePeak(t *testing.T) {
	up := &pages{RangeBytes: 64 << 20, Ahead: 1 << 20}
	var p *program
	var cached []device.Block
	asked := 0
	p = start(up, Options{BeforePeak: func() {
		asked++
		p.freeAll(cached)
		cached = nil
	}})
	live := fill(t, p, 640)
	if most := 128 + 206; asked < 200 || asked > most { // each page, then each 128th part
		t.Errorf("asked %d times while it grew to 640 pages, want at most %d", asked, most)
	}
	cached = append(cached, live[:100]...)
	p.drainAt = 0
	for range 100 {
		p.mustAlloc(t, page)
	}
	if p.managed != 640*page {
		t.Errorf("%d pages managed, what was cached would have done", p.managed/page)
	}
	p.mustCheck(t, &up.Source)
}

// A lazy range that grows by a small part takes no call, and does not ask for the Gets.
func TestGetsAreAskedForWhereTheyCount(t *testing.T) {
	asked := 0
	grow := func(ahead int) int {
		asked = 0
		p := start(&pages{RangeBytes: 64 << 20, Ahead: ahead}, Options{Gets: func() int64 { asked++; return 0 }})
		fill(t, p, 1000)
		return asked
	}
	if lazy, other := grow(1<<20), grow(0); lazy != lazyShare+1 || other < 10 {
		t.Errorf("asked %d times on a lazy range, %d on one that is not", lazy, other)
	}
}

// Gets that never reach the heap count for the budget: where nine of ten are served before
// it, ten times as few of its own allocations may go upstream, and steps are as large.
func TestGetsCountForTheBudget(t *testing.T) {
	step := func(gets func() int64) (float64, int) {
		p := start(&pages{RangeBytes: 64 << 20}, Options{Gets: gets})
		for range 10_000 {
			p.Grew(1000)
		}
		p.noteGets()
		return p.policy.budget(), p.policy.slack(0)
	}
	budget, slack := step(func() int64 { return 100_000 })
	plain, plainSlack := step(nil)
	if budget != 10*plain || slack >= plainSlack {
		t.Errorf("a budget of %v calls and a slack of %d; without Gets %v and %d", budget, slack, plain, plainSlack)
	}
}
