// Package gcpressure runs the garbage collector as memory grows that the collector does not see.
package gcpressure

import (
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/gcwatch"
)

// A Pressure decides when. Forgotten buffers off the heap come back by finalizers of their slots only, and
// nothing about them makes Go collect. The rule is that of Go's own pacer: collect when
// the tracked bytes exceed twice those in use at the last collection, plus a limit.
type Pressure struct {
	limit   int64        // 0 or less is never; below 0 no Search collects either
	tracked func() int64 // bytes of blocks that only a finalizer would find forgotten
	found   func() int64 // counts what finalizers have found
	base    atomic.Int64 // tracked bytes that were in use at the last collection
	own     atomic.Bool  // the last collection was the pool's
	ran     atomic.Int64 // collections of the pool's

	mu       sync.Mutex // held by the goroutine that collects
	searched int64      // Gets when Search collected last
	wait     int64      // Gets that it waits for from there
	seen     int64      // what was found by then
}

// Open sets the limit, and how the Pressure knows what is tracked and what was found. It is called
// before anything else.
func (g *Pressure) Open(limit int64, tracked, found func() int64) {
	g.limit, g.tracked, g.found = limit, tracked, found
}

// Ran returns how many collections the Pressure has run.
func (g *Pressure) Ran() int64 { return g.ran.Load() }

func (g *Pressure) exceeded() bool {
	return g.limit > 0 && g.tracked()-g.limit > 2*g.base.Load() // their sum may overflow
}

// Relieve collects if the limit is exceeded.
func (g *Pressure) Relieve() {
	if g.exceeded() {
		g.relieveNow()
	}
}

func (g *Pressure) relieveNow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.exceeded() { // still: another goroutine may have collected
		g.collect()
	}
}

// collect sets base to what the collection found in use. Others release memory while
// it runs: what is tracked afterwards may be little, and the next collection would
// come too early, and so on.
func (g *Pressure) collect() {
	g.own.Store(true)
	g.ran.Add(1)
	live := g.tracked() + g.found()
	gcwatch.Collect(g.found)
	g.base.Store(max(0, live-g.found()))
}

// Look collects for a pool of the Go heap, and calls marked as soon as the collection has seen all that is
// reachable. It returns when finalizers have run.
func (g *Pressure) Look(marked func()) {
	g.ran.Add(1)
	gcwatch.CollectThen(marked, g.found)
}

// Search collects for a Get that has no room, as what was forgotten has not come back by
// itself: no one but the pool knows of its budget. It reports whether anything came back since the
// last search, by whatever collection: one of the program's may have been faster. Each search that
// finds nothing doubles the Gets that the next one waits for, so a program that lives at its budget does not
// collect for each Get that fails.
func (g *Pressure) Search(gets int64) (found bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit < 0 || gets < g.searched+g.wait {
		return false
	}
	g.collect()
	before := g.seen
	g.seen = g.found()
	found = g.seen > before
	if g.searched = gets; found {
		g.wait = 0
	} else {
		g.wait = min(2*g.wait+leastWait, mostWait)
	}
	return found
}

// leastWait and mostWait bound the Gets between searches that find nothing.
const leastWait, mostWait = 16, 1 << 20

// Collected hears of every collection, after some time. The pool's own have set base.
// Of others the finalizers may not have run, so what is tracked may be too much: it can
// only lower base.
func (g *Pressure) Collected() {
	if n := g.tracked(); !g.own.Swap(false) && n < g.base.Load() {
		g.base.Store(n)
	}
}
