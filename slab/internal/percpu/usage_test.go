package percpu

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// What is out is what was got up to one reading and not released up to a later one.
func TestOutIsGotAndNotReleased(t *testing.T) {
	before := Served{Hits: 50, Misses: 7, Releases: 20, Got: 900, Released: 300}
	after := Served{Hits: 60, Misses: 8, Releases: 30, Got: 1000, Released: 450}
	if blocks, bytes := Out(before, after); blocks != 27 || bytes != 450 {
		t.Errorf("%d blocks, %d bytes", blocks, bytes)
	}
}

// Counts of class caches, which serve no miss, add up.
func TestServedAddsUp(t *testing.T) {
	s := Served{Hits: 1, Misses: 2, Releases: 3, Got: 4, Released: 5}
	if s.add(Served{Hits: 10, Releases: 30, Got: 40, Released: 50}); s != (Served{11, 2, 33, 44, 55}) || s.Gets() != 13 {
		t.Errorf("%+v", s)
	}
}

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
