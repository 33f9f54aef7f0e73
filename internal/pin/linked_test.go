//go:build !bufslab_portable && !race

package pin

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Numbers are the scheduler's.
func TestNumbersAreBelowGOMAXPROCS(t *testing.T) {
	for range 1000 {
		p := Pin()
		Unpin(p)
		if p.ID() < 0 || p.ID() >= runtime.GOMAXPROCS(0) {
			t.Fatalf("number %d", p.ID())
		}
	}
}

// While a goroutine is pinned no other runs on its processor.
func TestPinIsExclusive(t *testing.T) {
	counters := make([]struct {
		n int64
		_ [120]byte
	}, 1024)
	const goroutines, each = 8, 50_000
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				p := Pin()
				counters[p.ID()].n++
				Unpin(p)
			}
		})
	}
	wg.Wait()
	var sum int64
	for i := range counters {
		sum += counters[i].n
	}
	if sum != goroutines*each {
		t.Errorf("%d of %d increments are left", sum, goroutines*each)
	}
}

// The canary: what was pinned when Fence was called is unpinned when it
// returns. If the runtime ever stops stopping the world here, this fails.
func TestFenceWaitsForThePinned(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	var inside, stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			p := Pin()
			inside.Store(true)
			for x := range 2000 { // a while, by the standards of the pinned
				_ = x
			}
			inside.Store(false)
			Unpin(p)
			runtime.Gosched()
		}
	})
	// The section sees closed either at its begin, or is over at the fence.
	var closed atomic.Bool
	var late atomic.Int64
	wg.Go(func() {
		for !stop.Load() {
			p := Pin()
			open := !closed.Load()
			if open {
				late.Add(1)
				for x := range 500 {
					_ = x
				}
				late.Add(-1)
			}
			Unpin(p)
			runtime.Gosched()
		}
	})
	for i := range 300 {
		for i%30 == 0 && late.Load() == 0 { // now and then surely while one is open
			runtime.Gosched()
		}
		closed.Store(true)
		Fence()
		if n := late.Load(); n != 0 {
			t.Errorf("%d sections that saw it open still run", n)
		}
		closed.Store(false)
		runtime.Gosched()
	}
	stop.Store(true)
	wg.Wait()
}
