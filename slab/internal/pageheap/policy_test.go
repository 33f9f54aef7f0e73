package pageheap

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A growing program: in the long run at most so many allocations go upstream.
func TestGrowthKeepsTheMissTarget(t *testing.T) {
	for _, target := range []float64{0.01, 0.05, 0.2} {
		for _, fixed := range []bool{false, true} {
			up := &pages{RangeBytes: 1 << 30}
			p := start(on(up, fixed), Options{MissTarget: target})
			r := rand.New(rand.NewPCG(1, 2))
			var live []device.Block
			const allocs = 20_000
			for range allocs {
				live = append(live, p.mustAlloc(t, 1+r.IntN(20_000)))
				if r.IntN(3) == 0 {
					p.free(takeAt(&live, r.IntN(len(live))))
				}
			}
			if miss := float64(up.Calls) / allocs; miss > target {
				t.Errorf("target %v, fixed %v: %v of the allocations went upstream", target, fixed, miss)
			}
			if float64(p.managed) > 1.5*float64(p.active) {
				t.Errorf("target %v, fixed %v: %d bytes for %d", target, fixed, p.managed, p.active)
			}
		}
	}
}

func TestGrowthOfASteadyProgramIsWhatItNeeds(t *testing.T) {
	g := newGrowthPolicy(0.01)
	for range 10_000 {
		g.grew(1000, 0)
		g.shrank(1000)
	}
	if n := g.step(5000, 0, page, firstStep, 0); n != 2*page {
		t.Errorf("a step of %d bytes where 5000 are needed", n)
	}
	if n := g.slack(0); n != 0 {
		t.Errorf("%d bytes of slack", n)
	}
}

func TestGrowthIsFinerWhereCallsWereNotSpent(t *testing.T) {
	spent, saved := newGrowthPolicy(0.01), newGrowthPolicy(0.01)
	for range 10_000 {
		spent.grew(1000, 0)
		saved.grew(1000, 0)
	}
	for range 70 {
		spent.grewTo(1<<20, true, false)
	}
	if a, b := saved.slack(0), spent.slack(0); a >= b || a <= 0 {
		t.Errorf("%d bytes of slack with calls saved, %d without", a, b)
	}
}

// What is free takes an eighth of its bytes from what a program that adds memory asks for, and
// an eighth of that at most.
func TestGrowthIsLessWhereMemoryIsFree(t *testing.T) {
	g := newGrowthPolicy(0.01)
	for range 1000 {
		g.grew(100_000, 0)
	}
	all := g.step(page, 0, page, 1<<30, 0)
	for free, want := range map[int64]int{80 * page: all - 10*page, 1 << 30: all - all/8} {
		if n := g.step(page, 0, page, 1<<30, free); n < want-page || n > want+page {
			t.Errorf("a step of %d bytes with %d free, of %d without", n, free, all)
		}
	}
}

func TestGrowthStopsAtTheOldPeak(t *testing.T) {
	g := newGrowthPolicy(0.01)
	for range 1000 {
		g.grew(100_000, 0)
	}
	g.grewTo(100*page, true, false)
	if n := g.step(page, 0, page, 50*page, 0); n != 50*page {
		t.Errorf("up to the peak: a step of %d", n)
	}
	if n := g.step(page, 0, page, 99*page-1, 0); n != page {
		t.Errorf("whole pages only: a step of %d", n)
	}
	if n := g.step(50*page+1, 0, page, 50*page, 0); n <= 51*page {
		t.Errorf("what is needed is beyond the peak: a step of %d", n)
	}
}

// A heap without history affords four calls, then one for each 15 Gets up to seven, then its share of all. Calls
// for equal blocks are beside the early ones.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		count, gets, calls, beside int64
		want                       float64
	}{
		{0, 0, 0, 0, 4}, {60, 0, 0, 0, 4}, {75, 0, 0, 0, 5}, {75, 0, 2, 0, 3}, {75, 90, 2, 0, 4}, {700, 0, 0, 0, 7},
		{0, 0, 4, 3, 3}, {1000, 0, 0, 0, 10}, {1000, 2000, 25, 0, -5}, {1000, 0, 2, 2, 8}, {1000, 0, 4, 4, 7},
	} {
		g := growthPolicy{miss: 0.01, count: c.count, gets: c.gets, calls: c.calls, beside: c.beside}
		if got := g.budget(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Head-room is what the allocations until the next call add, less where calls are left, and less an eighth of what
// is free.
func TestSlack(t *testing.T) {
	for _, c := range []struct {
		rate        float64
		gets, calls int64
		free        int64
		want        int
	}{
		{100, 0, 10, 0, 10_000},     // a call every hundred allocations
		{100, 0, 20, 0, 10_000},     // too many were made
		{100, 0, 6, 0, 2000},        // four are left
		{100, 2000, 20, 0, 5000},    // every other Get is an allocation
		{100, 0, 10, 800, 9900},     // an eighth of what is free
		{100, 0, 10, 1 << 20, 8750}, // at most an eighth less
		{-100, 0, 10, 0, 0},
	} {
		g := growthPolicy{miss: 0.01, rate: c.rate, count: 1000, gets: c.gets, calls: c.calls}
		if got := g.slack(c.free); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A step is a multiple of a page of at least what is needed and what is wanted, and a first step of 64 KiB. It ends at
// the old peak, unless more is needed, or calls are scarce.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		need, least   int
		managed, high int64
		calls         int64
		want          int
	}{
		{1, 0, 0, 0, 0, firstStep},
		{firstStep + 1, 0, 0, 0, 0, firstStep + page},
		{1, 0, firstStep - 2*page, 0, 0, 2 * page},
		{1, 0, firstStep - 1, 0, 0, page},
		{1, 0, mib, 0, 0, page},
		{page + 1, 0, mib, 0, 0, 2 * page},
		{1, 10 * page, mib, 0, 0, 10 * page},
		{1, 10 * page, mib, mib + 4*page, 0, 4 * page},
		{1, 10 * page, mib, mib + 4*page, 3, 4 * page}, // a call is left
		{1, 10 * page, mib, mib + 4*page, 4, 10 * page},
		{4 * page, 10 * page, mib, mib + 5*page - 1, 0, 4 * page},
		{4*page + 1, 10 * page, mib, mib + 5*page - 1, 0, 10 * page},
		{1, page, mib, mib + 4*page, 0, page},
	} {
		g := growthPolicy{miss: 0.01, high: c.high, calls: c.calls}
		if got := g.step(c.need, c.least, page, c.managed, 0); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// What is counted of a growth: a call, if there was one; and one for equal blocks, if it made a new peak.
func TestCountsOfGrowth(t *testing.T) {
	for _, c := range []struct {
		managed             int64
		called, equal       bool
		calls, beside, high int64
	}{
		{101, true, true, 1, 1, 101}, {100, true, true, 1, 0, 100}, {101, true, false, 1, 0, 101},
		{101, false, true, 0, 0, 101}, {99, false, false, 0, 0, 100},
	} {
		g := growthPolicy{high: 100}
		g.grewTo(c.managed, c.called, c.equal)
		if g.calls != c.calls || g.beside != c.beside || g.high != c.high {
			t.Errorf("%+v: %+v", c, g)
		}
	}
}

// The rate is a mean of the bytes that an allocation adds: sizes, less those that are freed.
func TestRateOfGrowth(t *testing.T) {
	g := growthPolicy{miss: 0.5}
	for _, want := range []float64{500, 750, 875} {
		if g.grew(1000, 0); g.rate != want {
			t.Errorf("a rate of %v, want %v", g.rate, want)
		}
	}
	if g.shrank(1000); g.rate != 375 || g.count != 3 {
		t.Errorf("a rate of %v after a free, and %d allocations", g.rate, g.count)
	}
}

// Sums of sizes that no int holds are no step backwards.
func TestGrowthDoesNotOverflow(t *testing.T) {
	g := newGrowthPolicy(0.01)
	for range 1000 {
		g.grew(upstream.MaxSize, 0)
	}
	if n := g.slack(0); n < 0 || n > upstream.MaxSize {
		t.Errorf("%d bytes of slack", n)
	}
	if n := g.step(upstream.MaxSize, 2*upstream.MaxSize, page, 0, 0); n < upstream.MaxSize {
		t.Errorf("a step of %d bytes", n)
	}
}

func TestPeaksOnceReachedAreReachedAgainInFewCalls(t *testing.T) {
	up := &pages{RangeBytes: 1 << 30}
	p := start(up, Options{})
	for range 50 {
		var live []device.Block
		for range 400 {
			live = append(live, p.mustAlloc(t, 10_000))
		}
		p.freeAll(live)
	}
	if up.Calls > 200 {
		t.Errorf("%d calls upstream for 20,000 allocations", up.Calls)
	}
}
