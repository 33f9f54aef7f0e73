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
