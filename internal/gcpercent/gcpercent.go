// Package gcpercent keeps the collector's pace where it would be if memory off the heap were on it.
package gcpercent

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/bufslab/bufslab/internal/ticker"
)

const (
	// every is how often the percentage follows.
	every = 100 * time.Millisecond
	// worthShare of the percentage, as a divisor, is a change worth making: each stops the world.
	worthShare = 16
	// leastHeap is the heap, at 100 %, below which the runtime does not collect.
	leastHeap = 4 << 20
)

var state struct {
	sync.Mutex
	users  int // calls of Adjust that are not stopped
	before int // the percentage that the program has set
	now    int // the percentage that is set
	tick   *ticker.Ticker
	owner  *int // what the ticker lives for
}

// Adjust keeps the percentage of debug.SetGCPercent so that the heap may grow as far as it could if the active bytes
// were on it. What the program has set, or sets meanwhile, is the percentage of both together; below 0 the collector
// stays off. stop ends it, and the last one restores what the program has set.
func Adjust(active func() int64) (stop func()) {
	state.Lock()
	defer state.Unlock()
	if state.users++; state.users == 1 {
		state.before = current()
		state.now, state.owner = state.before, new(int)
		state.tick = ticker.Start(state.owner, every, func(*int) bool { return follow(active) })
	}
	apply(active())
	return sync.OnceFunc(end)
}

// follow adjusts the percentage to what is active now. It reports false where nobody wants it.
func follow(active func() int64) bool {
	n := active()
	state.Lock()
	defer state.Unlock()
	if state.users == 0 {
		return false
	}
	apply(n)
	return true
}

// apply sets the percentage if that changes much, and begins anew with one that the program has set meanwhile. The
// caller holds the lock.
func apply(active int64) {
	if n := current(); n != state.now {
		state.before, state.now = n, n
	}
	n := percent(state.before, heap(), active)
	if isWorth(n, state.now) {
		state.now = n
		debug.SetGCPercent(n)
	}
}

// isWorth reports whether n is far enough from now to be set. What is set already never is.
func isWorth(n, now int) bool { return n != now && max(n-now, now-n)*worthShare > now }

// current returns the percentage that is set, below 0 if the collector is off.
func current() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return int(int64(s[0].Value.Uint64()))
}

// A size is the bytes of the heap that the last collection left, and of all that it looked at.
type size struct{ live, scanned float64 }

// heap returns what the runtime says: it takes its percentage of live objects, stacks and globals.
func heap() size {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	live := float64(s[0].Value.Uint64())
	return size{live, live + float64(s[1].Value.Uint64()) + float64(s[2].Value.Uint64())}
}

// percent returns the percentage for a heap of such a size, where a program has set one, and active bytes are
// elsewhere: the heap grows by the program's percentage of both. The runtime lets every heap grow to leastHeap times
// the percentage, which may be more than that; then less is returned.
func percent(set int, h size, active int64) int {
	if set <= 0 || active <= 0 {
		return set
	}
	more := float64(set) / 100 * (h.scanned + float64(active))
	n := 100 * more / max(h.scanned, 1)
	return max(set, int(min(n, 100*(h.live+more)/leastHeap, math.MaxInt32))) // the runtime keeps 32 bits
}

func end() {
	state.Lock()
	defer state.Unlock()
	if state.users--; state.users > 0 {
		return
	}
	state.tick.Stop()
	state.owner = nil
	if current() == state.now {
		debug.SetGCPercent(state.before)
	}
}
