package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// harness is a pool that does nothing: what a workload itself costs. It is measured
// beside the pools, and its figures are taken off theirs.
type harness struct {
	mu     sync.Mutex
	memory [][]byte // of each goroutine
}

var _ perGoroutine[[]byte] = (*harness)(nil)

func newHarness() contender {
	return contend("harness", func() pool[[]byte] { return new(harness) })
}

func (h *harness) of(g int) pool[[]byte] {
	h.mu.Lock()
	defer h.mu.Unlock()
	for g >= len(h.memory) {
		h.memory = append(h.memory, make([]byte, largest))
	}
	return &fixed{h.memory[g]}
}

func (h *harness) get(int) ([]byte, []byte) { panic("bench: a harness is used by goroutines") }
func (h *harness) put([]byte)               {}

// fixed hands out the same memory every time.
type fixed struct{ memory []byte }

func (f *fixed) get(n int) ([]byte, []byte) { b := f.memory[:n]; return b, b }
func (f *fixed) put([]byte)                 {}

// touch writes to both ends of a buffer, which is what every user does at least.
func touch(b []byte) { b[0], b[len(b)-1] = 1, 1 }

// parallel runs f on GOMAXPROCS goroutines that begin together, and returns the time from
// the first beginning to the last end. In a cold workload each evicts its caches before.
func parallel(cold bool, f func(g int)) time.Duration {
	n := runtime.GOMAXPROCS(0)
	begin, end := make([]time.Time, n), make([]time.Time, n)
	var ready atomic.Int64
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() {
			if cold {
				evict(g)
			}
			for ready.Add(1); ready.Load() < int64(n); { // Gosched would let them run in turn
			}
			begin[g] = time.Now()
			f(g)
			end[g] = time.Now()
		})
	}
	wg.Wait()
	return latest(end).Sub(earliest(begin))
}

func earliest(v []time.Time) time.Time {
	first := v[0]
	for _, t := range v {
		if t.Before(first) {
			first = t
		}
	}
	return first
}

func latest(v []time.Time) time.Time {
	last := v[0]
	for _, t := range v {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// program is what a program has besides its pool, for each goroutine: more than the
// caches hold.
var program [maxProcs][64 << 20]byte

// evicted is how much of it a cold workload's turn comes after: all, unless cachegrind
// simulates smaller caches.
var evicted = len(program[0])

// evict does a program's own work: nothing of a pool is in the processor's caches after.
func evict(g int) {
	mine := program[g][:evicted]
	for i := 0; i < len(mine); i += 64 {
		mine[i]++
	}
}
