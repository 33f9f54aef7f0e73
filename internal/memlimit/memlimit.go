// Package memlimit keeps the runtime's memory limit at what memory off the heap leaves of a total.
package memlimit

import (
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/bufslab/bufslab/internal/ticker"
)

// None is the limit of a program that has none.
const None = math.MaxInt64

const (
	// every is how often the limit follows: a pool can grow by some 100 MB meanwhile.
	every = 100 * time.Millisecond
	// LeastShare of a total, as a divisor, is left to the heap: with a limit near zero the collector
	// would run all the time, and free nothing.
	LeastShare = 16
	// worthShare of a total is a change worth making: each stops the world.
	worthShare = 256
)

var state struct {
	sync.Mutex
	totals []*int64 // of the calls of Adjust that are not stopped
	before int64    // the limit that the program had set
	now    int64    // the limit that is set
	tick   *ticker.Ticker
	owner  *int // what the ticker lives for
}

// Total returns what the program has set, by GOMEMLIMIT or debug.SetMemoryLimit, whatever Adjust has made
// of it.
func Total() int64 {
	state.Lock()
	defer state.Unlock()
	if len(state.totals) == 0 {
		return debug.SetMemoryLimit(-1)
	}
	return total()
}

// total is the least that applies. The caller holds the lock.
func total() int64 {
	n := state.before
	for _, t := range state.totals {
		n = min(n, *t)
	}
	return n
}

// Adjust keeps the limit at total, or what the program had set if that is less, less offHeap. A total of 0
// is what the program had set. Several apply together: the least counts. stop ends it, and the last
// one restores the limit.
func Adjust(bytes int64, offHeap func() int64) (stop func()) {
	state.Lock()
	defer state.Unlock()
	if len(state.totals) == 0 {
		state.before = debug.SetMemoryLimit(-1)
	}
	if bytes == 0 || bytes > state.before {
		bytes = state.before
	}
	if bytes == None {
		return func() {}
	}
	if state.totals = append(state.totals, &bytes); len(state.totals) == 1 {
		state.owner, state.now = new(int), state.before
		state.tick = ticker.Start(state.owner, every, func(*int) bool { return follow(offHeap) })
	}
	apply(offHeap())
	return sync.OnceFunc(func() { end(&bytes, offHeap) })
}

// follow adjusts the limit to what is off the heap now. It reports false where nobody wants it.
func follow(offHeap func() int64) bool {
	n := offHeap()
	state.Lock()
	defer state.Unlock()
	if len(state.totals) == 0 {
		return false
	}
	apply(n)
	return true
}

// apply sets the limit if that changes much. The caller holds the lock.
func apply(offHeap int64) {
	t := total()
	want := max(t-max(0, offHeap), t/LeastShare)
	if more := want - state.now; more > t/worthShare || -more > t/worthShare || want == t && more != 0 {
		debug.SetMemoryLimit(want)
		state.now = want
	}
}

func end(bytes *int64, offHeap func() int64) {
	state.Lock()
	defer state.Unlock()
	state.totals = slices.DeleteFunc(state.totals, func(t *int64) bool { return t == bytes })
	if len(state.totals) > 0 {
		apply(offHeap())
		return
	}
	state.tick.Stop()
	state.owner = nil
	debug.SetMemoryLimit(state.before)
}
