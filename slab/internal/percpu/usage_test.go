package percpu

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Usage may run beside all else.
func TestUsageBesideOwners(t *testing.T) {
	for range 20 {
		s := openStore(t, Options{Largest: 32 << 10, Bytes: 1 << 20})
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Usage()
				}
			}
		})
		for size := 1; size <= 32<<10; size += size/4 + 1 {
			var held []handle.Entry
			for range 40 {
				held = append(held, s.get(t, size))
			}
			for _, e := range held {
				s.release(e, size)
			}
		}
		close(stop)
		wg.Wait()
		s.Reclaim(false)
	}
}

// Beside other calls too few bytes may seem active, never too many: one block is out at a time, and each sum
// that counts here has seen it come and go. Many processors make a sum take long.
func TestOutBytesIsNeverTooLarge(t *testing.T) {
	const size = 100
	s := openStore(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Processors: 64})
	var rounds atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			s.mu.Lock()
			s.CountGet(size)
			s.mu.Unlock()
			s.mu.Lock()
			s.CountRelease(size)
			s.mu.Unlock()
			rounds.Add(1)
		}
	})
	for beside := 0; beside < 20 && !t.Failed(); {
		before := rounds.Load()
		if n := s.OutBytes(); n > size {
			t.Errorf("%d bytes are out, %d at most", n, size)
		}
		if rounds.Load() > before+1 {
			beside++
		}
	}
	stop.Store(true)
	wg.Wait()
	if n := s.OutBytes(); n != 0 {
		t.Errorf("%d bytes are out in the end", n)
	}
}
