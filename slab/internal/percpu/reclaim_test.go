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
