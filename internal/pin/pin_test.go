package pin

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestPinIsSmall(t *testing.T) {
	for range 1000 {
		id := Pin()
		Unpin()
		if id < 0 || Exclusive && id >= runtime.GOMAXPROCS(0) || id > 1<<16 {
			t.Fatalf("Pin = %d", id)
		}
	}
}

func TestPinDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { Pin(); Unpin() }); n > 0.1 {
		t.Fatalf("%v allocations", n)
	}
}

// While a goroutine is pinned no other runs on its processor.
func TestPinIsExclusive(t *testing.T) {
	if !Exclusive {
		t.Skip("this build keeps locks instead")
	}
	counters := make([]struct {
		n int64
		_ [120]byte
	}, 1024)
	const goroutines, each = 8, 50_000
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				counters[Pin()].n++
				Unpin()
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
	if !Exclusive {
		t.Skip("this build keeps locks instead")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	var inside, stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			Pin()
			inside.Store(true)
			for x := range 2000 { // a while, by the standards of the pinned
				_ = x
			}
			inside.Store(false)
			Unpin()
			runtime.Gosched()
		}
	})
	// The section sees closed either at its begin, or is over at the fence.
	var closed atomic.Bool
	var late atomic.Int64
	wg.Go(func() {
		for !stop.Load() {
			Pin()
			open := !closed.Load()
			if open {
				late.Add(1)
				for x := range 500 {
					_ = x
				}
				late.Add(-1)
			}
			Unpin()
			runtime.Gosched()
		}
	})
	for range 300 {
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
