//go:build !bufslab_portable && !race

package percpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/internal/refuse"
)

// Where the system refuses membarrier(2), as some sandboxes do, quiesce waits for
// whoever is pinned, marked or not, and the caches do what they do elsewhere.
func TestWithoutABarrier(t *testing.T) {
	ways := map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}
	if refuse.Way() == "" {
		for way := range ways {
			refuse.Again(t, way)
		}
		return
	}
	refuse.Syscall(t, unix.SYS_MEMBARRIER, ways[refuse.Way()])
	if pin.Barrier() {
		t.Fatal("there is a barrier")
	}
	checkQuiesceWaitsForThePinned(t)
	TestReclaimAgainstHits(t)
	TestCountersAddUp(t)
}

// checkQuiesceWaitsForThePinned has a goroutine pin itself again and again, for longer
// than it takes to look twice.
func checkQuiesceWaitsForThePinned(t *testing.T) {
	defer runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(2)))
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20})
	var times atomic.Int64 // that it pinned or unpinned: odd while it is pinned
	var stop atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for !stop.Load() {
			id := s.Pin()
			times.Add(1)
			for range 20_000 {
				stop.Load()
			}
			times.Add(1)
			s.Unpin(id)
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
