package slab

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A stuck stream never gets done with its work.
type stuck struct {
	device.Stream
	work *check.Stuck
}

func (s stuck) Record() (device.Event, error) { return s.work, nil }

// Cleanups of the program run while pools that were dropped wait for streams, as many as
// the runtime could have goroutines for cleanups.
func TestADroppedPoolKeepsNoCleanupWaiting(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	s := stuck{work: check.NewStuck(n)}
	defer s.work.End()
	for range n {
		mustRelease(t, used(t, mustGet(t, mustOpen(t, &source{}, Config{}), 1000), s))
	}
	eventually(t, "the dropped pools wait", func() bool { runtime.GC(); return len(s.work.Waiting) == n })
	ran := make(chan struct{}, 1)
	runtime.AddCleanup(new([64]byte), func(ran chan struct{}) { ran <- struct{}{} }, ran)
	eventually(t, "another cleanup runs", func() bool { runtime.GC(); return len(ran) == 1 })
}

// A pool that has lost a part of its memory for good is collected all the same: slots with
// finalizers that wait for the next block would keep it, and be kept by it.
func TestAPoolWithQuarantineIsCollected(t *testing.T) {
	for _, dev := range []string{"mmap", "mmap:fixed"} {
		for _, s := range Strategies() {
			gone := make(chan struct{})
			func() {
				p := mustOpen(t, openDevice(t, dev), Config{Strategy: s, Device: dev})
				forgetOne(t, p, 100<<10, func(b PooledBuffer) { b.Bytes()[0] = 1 })
				var live [8]PooledBuffer
				for i := range live {
					live[i] = mustGet(t, p, 100<<10)
				}
				if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
					t.Fatalf("%+v", p.Stats())
				}
				releaseAll(t, live[:])
				runtime.AddCleanup(p.pool.accounting, func(gone chan struct{}) { close(gone) }, gone)
				p.Close()
			}()
			eventually(t, dev+", "+s+": the pool is collected", func() bool {
				cycle()
				select {
				case <-gone:
					return true
				default:
					return false
				}
			})
		}
	}
}
