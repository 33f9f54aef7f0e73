package percpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// No block is lost or found twice while one goroutine empties the caches that others
// use.
func TestReclaimAgainstHits(t *testing.T) {
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 200_000, Depot: 100_000})
	var stop atomic.Bool
	var gets atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := 0; !stop.Load(); i++ {
				size := 1 + i%4_000
				e, f := s.get(t, size), s.get(t, size)
				if e.Slot == f.Slot {
					t.Error("a block has two owners")
				}
				s.release(e, size)
				s.release(f, size)
				if gets.Add(2); i%64 == 0 {
					runtime.Gosched() // there may be one processor
				}
			}
		})
	}
	for i := 0; i < 300 || gets.Load() < 20_000; i++ {
		s.Reclaim(i%2 == 0)
		runtime.Gosched()
	}
	stop.Store(true)
	all.Wait()
	s.Reclaim(false)
	if u := s.Usage(); u.Blocks != 0 || u.Gets() != gets.Load() || u.Releases != u.Gets() || u.Released != u.Got {
		t.Errorf("%+v", u)
	}
}

// Stops add up: what was stopped twice keeps nothing until it was started twice. Then it is as it was.
func TestStopsAddUp(t *testing.T) {
	for _, largest := range []int{0, 16, 4 << 10} { // no class, one, and many
		s := oneCPU(t, Options{Largest: largest, Bytes: 1 << 20, Depot: 1 << 20})
		if largest > 0 {
			burst(t, s, 3, 16)
		}
		had := s.Usage()
		for i, c := range []struct {
			do   func()
			open bool
		}{{s.Stop, false}, {s.Stop, false}, {s.Start, false}, {s.Stop, false}, {s.Start, false}, {s.Start, true}} {
			c.do()
			for class := range s.classes {
				if open := s.At(0, class).limit.Load() >= 0; open != c.open {
					t.Errorf("after step %d class %d is open: %t", i, class, open)
				}
			}
			if s.depot.stopped() == c.open {
				t.Errorf("after step %d the depot is stopped: %t", i, !c.open)
			}
		}
		if s.checkMagazines(); s.Usage() != had {
			t.Errorf("%+v, %+v before", s.Usage(), had)
		}
	}
}

// A reclaim tells whether there was a block, in a class cache or in the depot, and leaves none.
func TestAReclaimTellsWhetherThereWereBlocks(t *testing.T) {
	for _, largest := range []int{16, 4 << 10} {
		s := oneCPU(t, Options{Largest: largest, Bytes: 1 << 20, Depot: 1 << 20})
		for where, fill := range map[string]func(){
			"nowhere":          func() {},
			"in a class cache": func() { burst(t, s, 1, 16) },
			"below others":     func() { burst(t, s, 40, 16) },
			"in the depot":     func() { s.putAway(filled(t, s, 2, 16)) },
		} {
			for _, reclaim := range []func() bool{
				func() bool { return s.Reclaim(false) },
				func() bool { s.Reclaim(true); return s.Reclaim(true) }, // the second one finds nothing touched
			} {
				fill()
				some := s.Usage().Blocks > 0
				if any := reclaim(); any != some || some == (where == "nowhere") || s.Usage().Blocks != 0 {
					t.Errorf("blocks %s: %t, and %d are left", where, any, s.Usage().Blocks)
				}
				s.checkMagazines()
			}
		}
	}
}

// After ReclaimLimits no class cache keeps a block before Raised was called, whatever was there. Each call of Raised
// comes before a limit rises.
func TestNoLimitRisesUntold(t *testing.T) {
	raised, s := 0, (*store)(nil)
	var seen int32
	most := func() (n int32) {
		for i := range s.caches {
			n += s.caches[i].limit.Load()
		}
		return n
	}
	s = oneCPU(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20, Raised: func() { raised++; seen = most() }})
	burst(t, s, 40, 100)
	s.get(t, 100)
	if raised == 0 || seen >= most() {
		t.Errorf("told %d times, the last time with limits of %d, now of %d", raised, seen, most())
	}
	burst(t, s, 1, 1000)
	s.get(t, 1000) // its class cache is empty, and has a limit
	for range 3 {
		if s.ReclaimLimits(); most() != 0 || s.Usage().Blocks != 0 {
			t.Errorf("limits of %d after ReclaimLimits", most())
		}
	}
	raised = 0
	if burst(t, s, 1, 1000); raised != 1 || s.Usage().Blocks != 1 {
		t.Errorf("told %d times of a block", raised)
	}
}
