package slab

import (
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/slab/internal/floor"
	"github.com/bufslab/bufslab/slab/internal/gcpressure"
	"github.com/bufslab/bufslab/slab/internal/pending"
)

// A forgotten is the part of a pool that knows which blocks come back late: those that streams use after their Release,
// and when the collector has to run for those that the program has forgotten. Its methods know no cache, no strategy
// and no budget.
//
// reclaimMu is held by the goroutine that empties queues and caches, so that a Get without room can tell that none of
// these blocks is on its way; a GetOn takes a block of its stream without it. It comes before all other locks of the
// pool. The queue, gc, the lookout and the growth have a lock each.
type forgotten struct {
	reclaimMu sync.Mutex
	pending   pending.Queue
	back      func(*pending.Block) // gives a block of the queue back, under reclaimMu

	gc      gcpressure.Pressure
	lookout floor.Lookout // of a pool on the Go heap
	growth  floor.Growth  // of others
	warned  atomic.Bool   // that slices are lost
	left    inside.Tally  // buffers that keepers have left to the collector
}

// sweep gives back blocks whose streams are done. If another goroutine gives back now,
// sweep leaves them to the next call.
func (f *forgotten) sweep() {
	if f.pending.Len() > 0 {
		f.sweepNow()
	}
}

func (f *forgotten) sweepNow() {
	if f.reclaimMu.TryLock() {
		defer f.reclaimMu.Unlock()
		f.sweepLocked()
	}
}

// sweepLocked is sweep under reclaimMu. It reports whether there was such a block.
func (f *forgotten) sweepLocked() (any bool) {
	for f.pending.Len() > 0 {
		b := f.pending.TakeDone()
		if b == nil {
			break
		}
		f.back(b)
		any = true
	}
	return any
}

// freeOldest waits for the block that has waited longest, and gives it back, unless
// another goroutine was faster. It reports false when no block waits. It waits without
// reclaimMu: others need not wait for the stream.
func (f *forgotten) freeOldest() bool {
	b, sync := f.pending.Oldest()
	if b == nil {
		return false
	}
	sync()
	f.reclaimMu.Lock()
	defer f.reclaimMu.Unlock()
	if f.pending.TakeOldest(func(x *pending.Block) bool { return x == b }) != nil {
		f.back(b)
	}
	return true
}

// freeOldestLocked is freeOldest under reclaimMu, for a pool after StopHolding.
func (f *forgotten) freeOldestLocked() bool {
	b := f.pending.TakeOldest(func(*pending.Block) bool { return true })
	if b == nil {
		return false
	}
	b.Sync()
	f.back(b)
	return true
}

// waitForStreams waits for streams as long as calls wait for memory, each on a goroutine of its own: neither a call
// with a context nor the blocks of another stream must wait for a stream that does not end.
func (f *forgotten) waitForStreams(isAwaited func() bool) {
	for f.pending.Len() > 0 {
		s, ok := f.pending.Watch()
		if !ok {
			return
		}
		go f.waitForStream(s, isAwaited)
	}
}

// waitForStream waits for a stream, which it watches.
func (f *forgotten) waitForStream(s device.Stream, isAwaited func() bool) {
	for isAwaited() && f.pending.SyncFirst(s) {
		f.sweepAll()
		f.waitForStreams(isAwaited) // a block may wait for another stream now
	}
	f.pending.Unwatch(s)
	if isAwaited() {
		f.waitForStreams(isAwaited) // blocks that came since the last look have seen a goroutine at work
	}
}

// sweepAll is sweep that waits for another goroutine that gives back.
func (f *forgotten) sweepAll() {
	f.reclaimMu.Lock()
	defer f.reclaimMu.Unlock()
	f.sweepLocked()
}

// oldShare of the Go heap, as a divisor, is what has been out for long where a collection is worth it.
const oldShare = 32

// isLookDue hears of a collection, with the bytes that are out. It reports whether it is time for a collection with
// empty caches, and the bytes that have been out for long.
func (f *forgotten) isLookDue(out int64) (old int64, due bool) {
	old, due = f.lookout.Collected(out)
	return old, due && old > gcwatch.Live()/oldShare
}

// grows hears of a collection, with the bytes that are out. If they grow without end it returns their least now, what
// it was, and over how many collections, else 0. It is asked no more once the pool has warned.
func (f *forgotten) grows(out int64) (least, was int64, collections int) {
	if f.warned.Load() {
		return 0, 0, 0
	}
	return f.growth.Collected(out)
}
