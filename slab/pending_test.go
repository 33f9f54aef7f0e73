package slab

import (
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A sweep, and a wait for the oldest block, say whether there was one.
func TestBlocksThatComeBackAreTold(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"})
	release := func() {
		s := &queue{}
		mustRelease(t, used(t, mustGet(t, p, 1000), s))
		s.Finish()
	}
	release()
	waiting(t, p, 1)
	for _, want := range []bool{true, false} {
		p.pool.reclaimMu.Lock()
		if any := p.pool.sweepLocked(); any != want {
			t.Errorf("a sweep: %v", any)
		}
		p.pool.reclaimMu.Unlock()
	}
	release()
	for _, want := range []bool{true, false} {
		if any := p.pool.emptyCaches(); any != want {
			t.Errorf("emptied of what streams are done with: %v", any)
		}
	}
	release()
	for _, want := range []bool{true, false} {
		if any := p.pool.freeOldest(); any != want {
			t.Errorf("the oldest: %v", any)
		}
	}
	checkNoneOut(t, p)
}

// One goroutine waits for each stream of a pool, until no call waits any more.
func TestOneGoroutineWaitsForEachStream(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"})
	first, later, last := stuck{work: check.NewStuck(9)}, stuck{work: check.NewStuck(9)}, stuck{work: check.NewStuck(9)}
	mustRelease(t, used(t, mustGet(t, p, 1000), first))
	mustRelease(t, used(t, mustGet(t, p, 1000), first, later))
	var awaited atomic.Bool
	awaited.Store(true)
	for range 2 {
		p.pool.waitForStreams(awaited.Load)
	}
	eventually(t, "a goroutine waits", func() bool { return len(first.work.Waiting) > 0 })
	if letOthersRun(); len(first.work.Waiting) != 1 || len(later.work.Waiting) != 0 {
		t.Errorf("%d and %d goroutines wait", len(first.work.Waiting), len(later.work.Waiting))
	}
	first.work.End()
	eventually(t, "one waits for the next stream", func() bool { return len(later.work.Waiting) == 1 })
	waiting(t, p, 1)
	awaited.Store(false)
	later.work.End()
	eventually(t, "the other block is back", func() bool { return p.Stats().WaitingBlocks == 0 })
	mustRelease(t, used(t, mustGet(t, p, 1000), last))
	p.pool.waitForStreams(awaited.Load)
	if letOthersRun(); len(last.work.Waiting) != 0 {
		t.Error("a goroutine waits for a stream though no call waits")
	}
	last.work.End()
	check.Must(t, p.Close())
}

// A call gets what the second stream is done with, though the first one, of the block that waits longest, is not.
func TestAWaitForOneStreamKeepsNoCallFromAnothers(t *testing.T) {
	for _, all := range []bool{false, true} {
		p := openPool(t, "heap", Config{Strategy: "direct", MaxBytes: 128 << 10})
		first, second := &stalled{gate: make(chan struct{})}, &stalled{gate: make(chan struct{})}
		a, b := mustGet(t, p, 64<<10), mustGet(t, p, 64<<10)
		mustRelease(t, used(t, a, first))
		var c <-chan result
		if all {
			mustRelease(t, used(t, b, second))
			c = getLater(t, t.Context(), p, 64<<10)
		} else { // which is released while the call waits
			c = getLater(t, t.Context(), p, 64<<10)
			mustRelease(t, used(t, b, second))
		}
		close(second.gate)
		mustRelease(t, mustHave(t, c))
		close(first.gate)
		check.Must(t, p.Close())
		checkNoneOut(t, p)
	}
}
