package slab

import (
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/canary"
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// The layers of a pool are all that a block comes through before it has a slot. They are fixed once the pool is open;
// held alone changes, and is atomic. A layer goes upstream without the mutex of its free blocks.
type layers struct {
	config *settings

	upstream   Allocator // own
	own        *Limit    // of Config.MaxBytes, over the argument of Open
	accounting *upstream.Accounting
	strategy   Allocator     // with what verifies or checks it
	unwrapped  Allocator     // the strategy itself
	blocks     numbered      // of strategy, with the guard at its side
	joint      numbered      // blocks, if lending.mu guards them and no wrapper is before them; else nil
	check      *canary.Check // nil unless Config.Check
	guard      guarding
	held       heldBound
}

// A heldBound keeps Config.MaxHeld in a pool with caches.
type heldBound struct {
	bytes  int64       // that the strategy may hold; 0 if there is no bound
	cached atomic.Bool // a block was cached since the caches were emptied for the bound
}

// note notes that a block is cached.
func (h *heldBound) note() {
	if !h.cached.Load() {
		h.cached.Store(true)
	}
}

// holdsTooMuch reports whether the strategy holds more than its part of Config.MaxHeld. The strategy gives back all it
// can, but a block in a cache keeps the rest of its slab; so no block is cached then.
func (l *layers) holdsTooMuch() bool { return l.held.bytes > 0 && l.isOverHeld() }

func (l *layers) isOverHeld() bool { return l.Free() > l.held.bytes }

// Free returns the bytes that the strategy has free: see budget.Pool.
func (l *layers) Free() int64 { return usageOf(l.strategy, 0).HeldBytes }

// Managed returns the bytes that the pool has from its upstream: see budget.Pool.
func (l *layers) Managed() int64 { return l.accounting.Managed() }

// callsAfter returns the number of calls upstream if there were fewer before, else 0.
func (l *layers) callsAfter(before int64) int64 {
	if now := l.accounting.Allocs(); now > before {
		return now
	}
	return 0
}

// managed returns the bytes that the strategy has from the upstream.
func (l *layers) managed() int64 { return l.accounting.Managed() - l.guard.managed() }

// isCollected reports whether the collector owns the pool's memory.
func (l *layers) isCollected() bool { return onHeap(l.config.Config) && l.accounting.OwnsRegions() }

// giveBack gives upstream what the layers hold, as far as it can go.
func (l *layers) giveBack() {
	l.guard.FreeHeld()
	forwardTo(l.strategy).FreeHeld()
	below(l.upstream).FreeHeld()
}

// giveBackIdle ends an epoch, and gives upstream what the layers held, untouched, for the last idle epochs.
func (l *layers) giveBackIdle(idle int) {
	if idle == 0 {
		l.guard.FreeHeld()
	}
	forwardTo(l.strategy).Trim(idle)
	below(l.upstream).Trim(idle)
}

// giveUp takes a block off the heap out of use for good: its pages go back, and out of every budget. A program that
// still uses it faults. The addresses stay taken. giveUp reports false where the strategy cannot do so: then the block
// stays active and in the budget, but its pages go back.
func (l *layers) giveUp(b device.Block, extent int32) bool {
	q, ok := l.strategy.(quarantiner)
	if extent == guard.Extent {
		q, ok = &l.guard, true
	}
	if ok && q.Quarantine(b, extent) {
		return true
	}
	if r, ok := b.Region.(device.Quarantiner); ok {
		_ = r.Quarantine(b.Off, b.Len) // if it fails the pages stay: a cost, not a fault
	}
	return false
}

// maxBytes returns the pool's own bound; 0 is none.
func (l *layers) maxBytes() int64 {
	if n := l.own.maximum(); n < noLimit {
		return n
	}
	return 0
}

// isTight reports whether a Limit of the pool has more in use than it allows, or had.
func (l *layers) isTight() bool {
	for a := range upstream.Layers(l.upstream) {
		if l, ok := a.(*Limit); ok && l.tight.Load() != nil {
			return true
		}
	}
	return false
}
