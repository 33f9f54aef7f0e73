//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Linux bounds the mappings of a process, to some 65,000. The Go runtime needs new ones now and then, and
// ends the process where there are none. So regions, ranges and inaccessible pages may not take the last
// ones.

// mappings is the budget of the process.
var mappings = mappingBudget{most: mostMappings, count: countMappings}

// A mappingBudget counts our own mappings as they come and go, and now and then all mappings of the process:
// when ours took half of the rest, or the last count is old. To count many mappings takes a while.
// Neighbours may be one mapping to the system, so our own count may be too large; only its differences are
// used.
type mappingBudget struct {
	most  func() (int64, bool) // that the process may have
	count func() (int64, bool) // that it has

	own     atomic.Int64
	checkAt atomic.Int64 // own mappings from which the process is counted again
	stale   atomic.Int64 // nanoseconds from begin at which the process is counted again, too

	mu      sync.Mutex // held by the goroutine that counts; leaf
	retryAt time.Time  // not to count before: the last count found too few
	max     int64      // as read last
}

var begin = time.Now()

const (
	// leastSpare mappings, or a spareShare of all, are left to the runtime.
	leastSpare, spareShare = 1000, 50
	// A count may be staleAfter old, or staleTimes as old as the count took, if that is more.
	staleAfter, staleTimes = 100 * time.Millisecond, 100
)

// take counts n more mappings, or says why it cannot.
func (b *mappingBudget) take(n int64) error {
	own := b.own.Add(n)
	if own <= b.checkAt.Load() && int64(time.Since(begin)) < b.stale.Load() {
		return nil
	}
	return b.recount(own-n, n)
}

func (b *mappingBudget) give(n int64) { b.own.Add(-n) }

// recount counts the mappings of the process, unless a count a moment ago found too few.
func (b *mappingBudget) recount(own, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	start := time.Now()
	if own+n > b.checkAt.Load() && start.Before(b.retryAt) {
		return b.refuse(n)
	}
	left, known := b.left()
	if !known {
		left = 1 << 60
	}
	b.checkAt.Store(own + max(min(left, n), left/2))
	wait := max(staleAfter, staleTimes*time.Since(start))
	b.stale.Store(int64(start.Add(wait).Sub(begin)))
	if n > left {
		b.retryAt = start.Add(wait)
		return b.refuse(n)
	}
	b.retryAt = time.Time{}
	return nil
}

// left is the number of mappings that we may take.
func (b *mappingBudget) left() (n int64, known bool) {
	has, ok := b.count()
	most, known := b.most()
	b.max = most
	return most - has - spare(most), ok && known
}

func spare(most int64) int64 { return min(max(leastSpare, most/spareShare), most/4) }

func (b *mappingBudget) refuse(n int64) error {
	b.own.Add(-n)
	return fmt.Errorf("device: of %d mappings of the process (vm.max_map_count) the last %d are the runtime's: %w",
		b.max, spare(b.max), ErrOutOfMemory)
}
