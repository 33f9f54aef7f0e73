//go:build !bufslab_portable && !race

package percpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// checkQuiesceWaitsForThePinned has a goroutine pin itself again and again, for longer
// than it takes to look twice. It shows that the world was stopped: the runtime pins.
func checkQuiesceWaitsForThePinned(t *testing.T) {
	defer runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(2)))
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20})
	var times atomic.Int64 // that it pinned or unpinned: odd while it is pinned
	var stop atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for !stop.Load() {
			on := s.Pin()
			times.Add(1)
			for range 20_000 {
				stop.Load()
			}
			times.Add(1)
			s.Unpin(on)
			runtime.Gosched()
		}
	})
	for range 50 {
		n := times.Load()
		for ; n%2 == 0; n = times.Load() {
			runtime.Gosched()
		}
		if s.quiesce(); times.Load() == n {
			t.Error("quiesce did not wait for a goroutine that was pinned")
			break
		}
	}
	stop.Store(true)
	all.Wait()
}
