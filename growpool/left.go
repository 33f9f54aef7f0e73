package growpool

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/gcwatch"
)

// What Get has shown is left to the collector when its key loses it. These counts say when
// to run it: nothing else does, as it knows of no budget, and off the heap of no memory.
type left struct {
	trigger int64        // 0 is never
	now     atomic.Int64 // bytes that were left, and of which the collector has not found the last View
	after   atomic.Int64 // now, after the last collection that the pool ran: Views have these
	since   atomic.Int64 // bytes left since that collection
	one     sync.Mutex   // held while relieve collects; other callers do not wait for it
}

// An abandoned is what only a buffer reaches that is left to the collector, so that its
// finalizer runs in the collection that finds the buffer.
type abandoned struct {
	left *left
	size int64
}

// add counts a buffer. It returns what the buffer has to keep.
func (l *left) add(size int) *abandoned {
	a := &abandoned{l, int64(size)}
	l.now.Add(a.size)
	l.since.Add(a.size)
	runtime.SetFinalizer(a, func(a *abandoned) { a.left.now.Add(-a.size) })
	return a
}

// relieve runs the collector if that is due.
func (l *left) relieve() {
	if l.due() && l.one.TryLock() {
		defer l.one.Unlock()
		l.collect()
	}
}

// due says whether a collection is worth its time, by the rule of slab.Config.GCTrigger: when
// there are twice the bytes that the last one has found to be in use, and the trigger.
func (l *left) due() bool {
	return l.trigger > 0 && l.now.Load()-l.trigger > 2*l.after.Load() // their sum may overflow
}

// collect runs the collector. It does not watch the slab.Pool's Stats().Forgotten for
// progress, though it could: that makes a collection twice as long, and allocate looks
// twice.
func (l *left) collect() {
	l.since.Store(0)
	collect()
	l.after.Store(l.now.Load())
}

func collect() { gcwatch.Collect(func() int64 { return 0 }) }
