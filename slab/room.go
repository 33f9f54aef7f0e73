package slab

import (
	"sync/atomic"

	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/clock"
)

// A room is the part of a pool that knows where there is memory: the layers that have it, the budgets that may refuse
// it, who waits for it, who is asked to give it back, and what a Get was refused. Its methods know no slot and no
// cache.
//
// The layers, the queue of each budget and the reclaimers have locks of their own. One goroutine moves the clock. All
// else is atomic, or fixed once the pool is open. A layer may come back for lending.mu, where it is the lock of a page
// heap or a region leaves the table; a budget asks its pools, and so comes back for reclaimMu.
type room struct {
	layers

	budgets    []*budget.Budget // all that may refuse memory, the nearest first; at least one
	reclaimers budget.Members   // keepers of buffers of the pool
	waits      waits
	refusals   refusals
	clock      clock.Clock
	counted    counted

	fitting   atomic.Bool // a goroutine of fit waits for reclaimMu
	resized   atomic.Bool // by SetMaxBytes
	closed    atomic.Bool
	abandoned atomic.Bool // before closed: the program has forgotten the pool
}

// waits counts the calls that wait for memory of a pool.
type waits struct {
	hurried atomic.Int32 // budgets of the pool that somebody waits for

	now, calls, nanoseconds atomic.Int64 // of this pool's
	undone                  atomic.Int64 // Gets of tries that failed as a whole
}

func (w *waits) begin() {
	w.now.Add(1)
	w.calls.Add(1)
}

func (w *waits) end(of *budget.Waiter) {
	w.nanoseconds.Add(int64(of.Waited()))
	w.now.Add(-1)
}

// A refusal is a Get that has failed.
type refusal struct {
	by      *budget.Budget // of the Limit that refused
	changes uint64         // of by, before the last try
	class   int            // of the caches
	err     *OutOfMemoryError
}

// refusals are those of a pool; see refusal.go.
type refusals struct {
	of    []atomic.Pointer[refusal] // by class; the last is of blocks that no cache takes
	watch atomic.Uint64             // odd while each change has to be told; another number for each Watch
}

// counted has the counts of a pool that are not in its caches.
type counted struct {
	failed, trims, trimmed atomic.Int64
	steps, relieved        atomic.Int64 // of Config.Pressure
}

// refuses reports whether the pool hands out no more memory. A forgotten pool still serves Grow.
func (r *room) refuses() bool { return r.closed.Load() && !r.abandoned.Load() }

func (r *room) isOpen() bool { return !r.closed.Load() }

// isAwaited reports whether somebody waits for memory of the pool.
func (r *room) isAwaited() bool { return r.waits.hurried.Load() > 0 }

// fail counts a Get that ends with err if there was no room, and tells Hooks.
func (r *room) fail(err error) {
	if e, ok := err.(*OutOfMemoryError); ok {
		r.counted.failed.Add(1)
		r.config.Hooks.outOfMemory(e)
	}
}

// trimmed counts a trim that gave back n bytes.
func (r *room) trimmed(n int64) int64 {
	r.counted.trims.Add(1)
	r.counted.trimmed.Add(n)
	r.config.Hooks.trimmed(r.config.Name, n)
	return n
}

// relieved counts a step of Config.Pressure that gave back n bytes.
func (r *room) relieved(n int64, why string) {
	if n > 0 {
		r.counted.steps.Add(1)
		r.counted.relieved.Add(n)
		r.config.Hooks.pressure(r.config.Name, n, why)
	}
}
