package growpool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/internal/ticker"
	"github.com/bufslab/bufslab/internal/underway"
	"github.com/bufslab/bufslab/slab"
)

// The locks, in the order in which they are taken:
//
//  1. entry.mu        of one key. A second entry's is only tried, with TryLock.
//  2. policy.mu       one change of the cache at a time
//  3. policy.closing  shared by touch, which does not take policy.mu
//  4. uses.mu         of one buffer, also without entry.mu; held around calls of its streams
//  5. the locks of ristretto, and those of the slab.Pool (under entry.mu and uses.mu only). A slab.Pool
//     without room calls reclaim, without a lock of its own; reclaim begins at 1 with TryLock.
//  6. leaves, under which no lock is taken: policy.exitMu, budget.mu, table.mu, Pool.mu
//
// A hit of Get takes no lock. The invariants:
//
//   - The bytes that the budget counts are never more than Config.MaxBytes.
//   - A key has at most one buffer. entry.cur is set under entry.mu only.
//   - A buffer's references and state are one word; every change of it is a
//     cell of the table in state.go.
//   - Memory is released or left to the collector once, when the last
//     reference ends. Memory that Get has shown is never released.
//   - No Get hands out a leased buffer.
//   - A request that fails changes nothing, unless others take the room that it
//     has just made.
//   - An entry that has left the table is dead, and never has a buffer again.

// A Pool keeps a buffer for every key, as large as the largest request for the key
// so far. It is safe for concurrent use; goroutines that share a key need
// [Acquire]. In a nil or zero Pool Get and Acquire fail, and all other methods panic. Keys
// are compared by ==, so a key that is not equal to itself, a NaN, is new each time.
//
// Where there is no room, a Pool gives held buffers back: for its own Get, and for every
// slab.Pool that shares the device or a slab.Limit. It gives back buffers of keys that are
// not leased. It keeps buffers that Get has shown, as only the collector can tell when
// their Views are gone.
//
// A Pool calls the slab.Pool with the key locked. So Hooks.OutOfMemory of the slab.Pool must not wait for a method of
// the Pool: it would wait for ever. It may call FreeHeld of the slab.Pool, and pressure.FreeAll.
//
// A Pool that is itself forgotten leaves its buffers to the slab.Pool.
type Pool[K comparable] struct {
	table  table[K]
	policy *policy // nil without a budget
	seen   bool    // a hit has more to do than to count: there is a policy, or Config.Requested
	slab   *slab.Pool
	config Config
	budget *budget
	leases atomic.Int64
	sweeps *ticker.Ticker                     // nil without IdleAfter
	ended  func(handle any, e underway.Ended) // is told of a lease's end; nil where nobody looks

	stopped, closed atomic.Bool
	life            context.Context // done when the pool is closed
	end             context.CancelFunc

	mu      sync.Mutex // leaf
	removed KeyStats   // of keys that have left the table
}

// must panics for a Pool that New has not made.
func (p *Pool[K]) must() {
	if !p.made() {
		panic("growpool: a nil or zero Pool, which New has not made")
	}
}

func (p *Pool[K]) made() bool { return p != nil && p.slab != nil }

// Config tunes a [Pool]. Its zero value works: buffers are as large as the
// largest request, and stay.
type Config struct {
	// Growth is the size of a buffer that has to grow; nil is Exact.
	Growth Growth
	// MaxBytes bounds the pool's memory at every moment: the bytes of the keys'
	// buffers, of leases and of a buffer being made. A buffer that Get has shown
	// and that no key has any more does not count here, but only in the slab.Pool;
	// with Acquire there are none. In large budgets the bookkeeping counts, too,
	// see [Usage]. A cache decides which keys keep their buffers. If a key may not
	// keep its buffer, or has lost it, a View of that buffer is the caller's
	// alone, and the collector takes the memory; the memory of a lease goes back
	// at once. 0 is no bound.
	MaxBytes int64
	// GCTrigger runs the collector, which does not know the budget. A buffer that
	// Get has shown is left to the collector when its key loses or outgrows it. It
	// stays until no View is left and a collection, of this pool or not, has seen
	// that. The pool runs the collector when the bytes left to it exceed GCTrigger
	// plus twice the bytes that the last such collection has found in use. A larger
	// GCTrigger means fewer collections and more active memory, see
	// Usage.LeftBytes. 0 is MaxBytes, and never without a budget; -1 is never.
	GCTrigger int64
	// IdleAfter is the time after which a key without requests loses its
	// buffer. It loses the buffer up to a quarter of this time later. 0 is never.
	IdleAfter time.Duration
	// Private has Acquire of a leased key not wait for the key, but make a buffer for
	// that lease alone, which goes back to the slab.Pool with the lease.
	Private bool
	// Requested, if it is not nil, is called for each request of Get and Acquire, before the request is
	// served, on the caller's goroutine: for a keyed trace, which `bufslab replay -growth` runs on other policies.
	// It is not called for requests of no bytes. Each Get then takes some 10 ns more.
	Requested func(key any, sizeBytes int)
}

// Validate names everything that is wrong with c in one error.
func (c Config) Validate() error {
	var faults []error
	if c.MaxBytes < 0 {
		faults = append(faults, fmt.Errorf("MaxBytes %d: want 0 or more", c.MaxBytes))
	}
	if c.GCTrigger < -1 {
		faults = append(faults, fmt.Errorf("GCTrigger %d: want -1 or more", c.GCTrigger))
	}
	if c.IdleAfter < 0 {
		faults = append(faults, fmt.Errorf("IdleAfter %v: want 0 or more", c.IdleAfter))
	}
	return errors.Join(faults...)
}
