package slab

import (
	"math/rand/v2"
	"testing"
)

// Call k of the upstream fails, for every k: the step gives a typed error or
// succeeds all the same, nothing that is active changes, the next step works,
// and in the end nothing is left.
func TestEveryFailureOfTheUpstreamIsSurvived(t *testing.T) {
	t.Parallel() // with pools of its own
	eachSubject(t, func(t *testing.T, steps int, open func(*testing.T, *pages) subject) {
		steps = long(t, steps/3)
		for _, with := range []error{nil, errLost} {
			for k, calls := 1, 1; k <= calls; k++ {
				up := &pages{Source: source{FailAt: k, FailWith: with, Host: true}, RangeBytes: 256 << 10}
				r := newScript(t, 3, open(t, up), up)
				for range steps {
					r.step()
				}
				calls = up.Calls
				r.end()
				if t.Failed() {
					t.Fatalf("with call %d failing as %v", k, with)
				}
			}
		}
	})
}

func TestNoOutOfMemoryWhileABlockIsHeld(t *testing.T) {
	t.Parallel() // with pools of its own
	eachSubject(t, func(t *testing.T, _ int, open func(*testing.T, *pages) subject) {
		for seed := range uint64(5) {
			up := &pages{Source: source{Capacity: 50_000, Host: true}, RangeBytes: 256 << 10}
			r := newScript(t, seed, open(t, up), up)
			for range long(t, 300) {
				r.step()
			}
			r.end()
		}
	})
}

// nestings are strategies over strategies, the upper one first.
var nestings = [][2]string{
	{"exact", "slab"}, {"bestfit", "bestfit"}, {"sizeclass", "slab"}, {"slab", "slab"},
	{"slab", "sizeclass"}, {"bitlog", "bestfit"}, {"direct", "slab"}, {"slab", "direct"}, {"bestfit", "exact"},
}

// What the upper strategy manages is what the lower one has out.
func nestedSubject(t *testing.T, over, under Allocator) subject {
	s := strategySubject(over)
	usage, below := s.usage, under.(UsageReporter).Usage
	s.usage = func() Usage {
		o, u := usage(), below()
		if o.ManagedBytes() != u.ActiveBytes {
			t.Fatalf("%+v over %+v", o, u)
		}
		o.HeldBytes, o.RoundingBytes, o.UnusableBytes = o.HeldBytes+u.HeldBytes, o.RoundingBytes+u.RoundingBytes, o.UnusableBytes+u.UnusableBytes
		return o
	}
	stop := s.stop
	s.stop = func() { stop(); strategySubject(under).stop() }
	s.whole = false
	return s
}

func TestStrategiesNest(t *testing.T) {
	for _, n := range nestings {
		for _, capacity := range []int64{0, 50_000} {
			eachOn([]string{n[1]}, func(lower string, ranges bool) {
				up := &pages{Source: source{Host: true, Capacity: capacity}, RangeBytes: 512 << 10}
				under := strategyOn(lower, onRanges(up, ranges), Config{})
				r := newScript(t, 5, nestedSubject(t, strategyOn(n[0], under, Config{}), under), up)
				for range 1000 {
					r.step()
				}
				r.end()
			})
		}
	}
}

func TestPoolsNest(t *testing.T) {
	for _, n := range nestings {
		for _, dev := range []string{"heap", "mmap", "sim"} {
			t.Run(n[0]+" over "+n[1]+" on "+dev, func(t *testing.T) {
				under := strategyOn(n[1], openDevice(t, dev), Config{})
				p := mustOpen(t, under, Config{Strategy: n[0]})
				r := rand.New(rand.NewPCG(5, 6))
				var live []PooledBuffer
				for range 1000 {
					if len(live) > 50 || len(live) > 0 && r.IntN(2) == 0 {
						mustRelease(t, takeAt(&live, 0))
					} else {
						live = append(live, mustGet(t, p, 1+r.IntN(1<<r.IntN(17))))
					}
				}
				releaseAll(t, live)
				checkNoneOut(t, p)
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				checkNothing(t, p)
				if strategySubject(under).stop(); under.(UsageReporter).Usage() != (Usage{}) {
					t.Errorf("%+v", under.(UsageReporter).Usage())
				}
			})
		}
	}
}
