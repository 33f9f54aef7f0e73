package slab

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A growing program: in the long run at most so many allocations go upstream.
func TestGrowthKeepsTheMissTarget(t *testing.T) {
	for _, target := range []float64{0.01, 0.05, 0.2} {
		for _, fixed := range []bool{false, true} {
			up := &pages{rangeBytes: 1 << 30}
			var a Allocator = up
			if fixed {
				a = &up.fake
			}
			b := NewBestfit(a, Config{MissTarget: target})
			r := rand.New(rand.NewPCG(1, 2))
			var live []device.Block
			const allocs = 20_000
			for range allocs {
				live = append(live, mustAlloc(t, b, 1+r.IntN(20_000)))
				if r.IntN(3) == 0 {
					i := r.IntN(len(live))
					b.Free(live[i])
					live[i] = live[len(live)-1]
					live = live[:len(live)-1]
				}
			}
			if miss := float64(up.calls) / allocs; miss > target {
				t.Errorf("target %v, fixed %v: %v of the allocations went upstream", target, fixed, miss)
			}
			if u := b.Usage(); float64(u.ManagedBytes()) > 1.5*float64(u.ActiveBytes) {
				t.Errorf("target %v, fixed %v: %d bytes for %d", target, fixed, u.ManagedBytes(), u.ActiveBytes)
			}
		}
	}
}

func TestGrowthOfASteadyProgramIsWhatItNeeds(t *testing.T) {
	g := newGrowth(0.01)
	for range 10_000 {
		g.grew(1000)
		g.shrank(1000)
	}
	if n := g.step(5000, 0, page, 0); n != 2*page {
		t.Errorf("a step of %d bytes where 5000 are needed", n)
	}
	if n := g.slack(); n != 0 {
		t.Errorf("%d bytes of slack", n)
	}
}

func TestGrowthIsFinerWhereCallsWereNotSpent(t *testing.T) {
	spent, saved := newGrowth(0.01), newGrowth(0.01)
	for range 10_000 {
		spent.grew(1000)
		saved.grew(1000)
	}
	for range 70 {
		spent.called(1 << 20)
	}
	if a, b := saved.slack(), spent.slack(); a >= b || a <= 0 {
		t.Errorf("%d bytes of slack with calls saved, %d without", a, b)
	}
}

func TestGrowthStopsAtTheOldPeak(t *testing.T) {
	g := newGrowth(0.01)
	for range 1000 {
		g.grew(100_000)
	}
	g.called(100 * page)
	for _, c := range []struct {
		need    int
		managed int64
		want    int
	}{
		{page, 50 * page, 50 * page},               // up to the peak
		{page, 99*page - 1, page},                  // whole pages only
		{50*page + 1, 50 * page, g.slack() / page}, // need itself is beyond
	} {
		n := g.step(c.need, 0, page, c.managed)
		if c.want > 1<<20 {
			continue
		}
		if c.need > 50*page {
			if n <= 51*page {
				t.Errorf("need %d: a step of %d", c.need, n)
			}
		} else if n != c.want {
			t.Errorf("need %d of %d managed: a step of %d, want %d", c.need, c.managed, n, c.want)
		}
	}
}

// Sums of sizes that no int holds are no step backwards.
func TestGrowthDoesNotOverflow(t *testing.T) {
	g := newGrowth(0.01)
	for range 1000 {
		g.grew(maxAsk)
	}
	if n := g.slack(); n < 0 || n > maxAsk {
		t.Errorf("%d bytes of slack", n)
	}
	if n := g.step(maxAsk, 2*maxAsk, page, 0); n < maxAsk {
		t.Errorf("a step of %d bytes", n)
	}
}

func TestPeaksOnceReachedAreReachedAgainInFewCalls(t *testing.T) {
	up := &pages{rangeBytes: 1 << 30}
	b := NewBestfit(up, Config{})
	for range 50 {
		var live []device.Block
		for range 400 {
			live = append(live, mustAlloc(t, b, 10_000))
		}
		for _, blk := range live {
			b.Free(blk)
		}
	}
	if up.calls > 200 {
		t.Errorf("%d calls upstream for 20,000 allocations", up.calls)
	}
}
