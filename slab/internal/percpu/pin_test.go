//go:build !race

package percpu

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// quiesce waits for each mark that says a goroutine is there. On one processor the one
// that takes the mark away runs only while quiesce waits.
func TestQuiesceWaitsForTheBusy(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20})
	var marks []*uint32
	for i := range s.cpus {
		marks = append(marks, &s.cpus[i].busy)
	}
	for i := range s.caches {
		marks = append(marks, &s.caches[i].busy)
	}
	for i, busy := range marks {
		*busy = 1
		var left atomic.Bool
		go func() {
			for range 100 {
				runtime.Gosched()
			}
			left.Store(true)
			atomic.StoreUint32(busy, 0)
		}()
		if s.quiesce(); !left.Load() {
			t.Fatalf("quiesce did not wait for mark %d of %d", i, len(marks))
		}
	}
}

// Whoever is at what a processor has beside its class caches is marked.
func TestACPUIsMarkedBusy(t *testing.T) {
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20})
	on := s.Pin()
	p := s.cpu(on.ID())
	during := p.busy
	p.leave()
	after := p.busy
	s.Unpin(on)
	if during != 1 || after != 0 {
		t.Errorf("mark %d, and %d afterwards", during, after)
	}
}
