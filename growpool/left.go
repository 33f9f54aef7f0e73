package growpool

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/internal/inside"
)

// A buffer that Get has shown is left to the collector when its key loses it. These counts say
// when to run the collector, which knows no budget, and no memory off the heap.
type left struct {
	total   *inside.Tally // of the slab.Pool
	trigger int64         // 0 is never
	now     atomic.Int64  // bytes that were left, and that the collector has not found dead
	after   atomic.Int64  // now, after the last collection that the pool ran: Views have these
	since   atomic.Int64  // bytes left since that collection
	one     sync.Mutex    // held while relieve collects; other callers do not wait for it
}

// An abandoned is reached only by a buffer that is left to the collector, so that its
// finalizer runs in the collection that finds the buffer.
type abandoned struct {
	left *left
	size int64
}

// add counts a buffer. The buffer has to keep the abandoned.
func (l *left) add(size int) *abandoned {
	a := &abandoned{l, int64(size)}
	l.now.Add(a.size)
	l.since.Add(a.size)
	l.total.Add(int64(min(size, 1)), a.size) // a buffer of no bytes is none of the slab.Pool
	runtime.SetFinalizer(a, func(a *abandoned) {
		a.left.now.Add(-a.size)
		a.left.total.Add(-min(a.size, 1), a.size)
	})
	return a
}

// relieve runs the collector if a collection is due.
func (l *left) relieve() {
	if l.due() && l.one.TryLock() {
		defer l.one.Unlock()
		l.collect()
	}
}

// due says whether a collection is worth its time, by the rule of slab.Config.GCTrigger: when
// the bytes exceed the trigger plus twice the bytes that the last collection has found in use.
func (l *left) due() bool {
	return l.trigger > 0 && l.now.Load()-l.trigger > 2*l.after.Load() // their sum may overflow
}

// collect runs the collector. To watch the slab.Pool's Stats().Forgotten for progress would make
// a collection twice as long; instead allocate looks twice.
func (l *left) collect() {
	l.since.Store(0)
	collect()
	l.after.Store(l.now.Load())
}

func collect() { gcwatch.Collect(func() int64 { return 0 }) }
