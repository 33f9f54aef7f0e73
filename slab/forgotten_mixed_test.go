package slab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// A forgetter is a program that forgets one buffer in three after it has used the bytes.
// Sizes are mixed, so that what is lost and what lives share pages.
type forgetter struct {
	t    *testing.T
	name string
	r    *rand.Rand
	live []PooledBuffer
	most int // buffers that live at a time

	forgotten int
}

const (
	leastForgotten, mostForgotten = 5 << 10, 65 << 10
	liveShare                     = 9 // of a budget, as a divisor: what the program needs at a time
)

func newForgetter(t *testing.T, name string, budget int64) *forgetter {
	const mean = (leastForgotten + mostForgotten) / 2
	return &forgetter{t: t, name: name, r: rand.New(rand.NewPCG(5, 65)), most: max(2, int(budget/liveShare/mean))}
}

// run forgets n buffers.
func (f *forgetter) run(p *Pool, n int) {
	for i := 0; f.forgotten < n; i++ {
		b, err := p.Get(leastForgotten + f.r.IntN(mostForgotten-leastForgotten))
		if err != nil {
			f.t.Fatalf("%s: after %d forgotten: %v\n%+v", f.name, f.forgotten, err, p.Stats())
		}
		b.Bytes()[0] = 1
		switch {
		case i%3 == 0:
			f.forgotten++
		case len(f.live) < f.most:
			f.live = append(f.live, b)
		default:
			k := f.r.IntN(len(f.live))
			mustRelease(f.t, f.live[k])
			f.live[k] = b
		}
		if i%1000 == 999 {
			cycle()
		}
	}
}

func (f *forgetter) releaseAll() {
	releaseAll(f.t, f.live)
	f.live = nil
}

// eachBudget runs f with each strategy on small budgets, with caches and without. A device has a
// process of its own, as what is lost stays mapped: a process has 8,192 places for that.
func eachBudget(t *testing.T, f func(t *testing.T, name string, c Config)) {
	for _, dev := range []string{"mmap", "mmap:fixed"} {
		t.Run(dev, func(t *testing.T) {
			if !inChild(t, "GORACE=atexit_sleep_ms=10") { // else each of them sleeps for a second
				return
			}
			budgets := []int64{1 << 20}
			if os.Getenv("BUFSLAB_STRESS") != "" { // else less is forgotten than the larger one has
				budgets = append(budgets, 16<<20)
			}
			for _, s := range Strategies() {
				for _, budget := range budgets {
					for _, cache := range []int64{0, -1} {
						c := Config{Device: dev, Strategy: s, MaxBytes: budget, CacheBytes: cache}
						f(t, fmt.Sprintf("%s,max_bytes=%d,cache_bytes=%d", s, budget, cache), c)
					}
				}
			}
		})
	}
}

// Whatever the sizes, each page without a buffer that is out leaves the budget, so a program
// that forgets for ever does not run out of it. Once all is gone nothing is managed.
func TestBudgetOutlastsMixedSizes(t *testing.T) {
	t.Parallel() // as a process of its own
	eachBudget(t, func(t *testing.T, name string, c Config) {
		p := openPool(t, c.Device, c)
		f := newForgetter(t, name, c.MaxBytes)
		f.run(p, long(t, 120))
		if s := p.Stats(); s.PeakManagedBytes > c.MaxBytes {
			t.Errorf("%s: a peak of %d bytes", name, s.PeakManagedBytes)
		}
		f.releaseAll()
		collect(p, func(s Stats) bool { return s.Forgotten == int64(f.forgotten) })
		if p.FreeHeld(); p.Stats().ManagedBytes != 0 {
			t.Errorf("%s: something is left: %+v", name, p.Stats())
		}
	})
}

// Pools that come and go on one Limit leave nothing of it: neither what they forgot nor what was
// released, or found, only after Close.
func TestClosedPoolsLeaveTheirLimit(t *testing.T) {
	t.Parallel() // as a process of its own
	eachBudget(t, func(t *testing.T, name string, c Config) {
		limit := NewLimit(openDevice(t, c.Device), c.MaxBytes)
		n := long(t, 20)
		c.MaxBytes = 0
		for round := range 2 {
			p := mustOpen(t, limit, c)
			f := newForgetter(t, name, limit.max)
			f.run(p, n/2)
			if round == 0 {
				cycle()
			}
			p.Close()
			f.releaseAll()
			collect(p, func(s Stats) bool { // they are counted before their memory goes
				return s.Forgotten == int64(f.forgotten) && s.ManagedBytes == 0 && limit.InUse() == 0
			})
			if limit.InUse() != 0 || p.Stats().ManagedBytes != 0 {
				t.Errorf("%s: %d bytes in use, %+v", name, limit.InUse(), p.Stats())
			}
		}
	})
}
