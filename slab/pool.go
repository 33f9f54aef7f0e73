package slab

import (
	"fmt"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/canary"
	"github.com/bufslab/bufslab/slab/internal/clock"
	"github.com/bufslab/bufslab/slab/internal/floor"
	"github.com/bufslab/bufslab/slab/internal/gcpressure"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pending"
	"github.com/bufslab/bufslab/slab/internal/percpu"
	"github.com/bufslab/bufslab/slab/internal/upstream"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A Pool hands out buffers of an upstream's memory and keeps released memory for
// reuse, by the strategy that its Config names. It is safe for concurrent use.
//
// Above its strategy a Pool keeps some released blocks for each processor
// (Config.CacheBytes), and it gives every buffer a handle that can be released once.
// Below the strategy are, in this order from the upstream: the byte budget
// (Config.MaxBytes) and the accounting.
//
// A buffer that is forgotten comes back and never aliases. On the Go heap the
// collector watches the memory, so any live slice of a buffer delays it; small
// buffers share slabs and come back with their slab. Off the heap a buffer comes back if its
// bytes were used through With or not at all. If Bytes was called, the address is
// never used again, the pages are given back, and a late reader faults. Off the
// heap the pool does not notice that a buffer of at most 4 KiB of host memory was
// forgotten, unless Config.OnForget is "report".
//
// Memory that streams of a device work on may be released as soon as the work is
// enqueued: see [PooledBuffer.UsedOn] and [Pool.GetOn].
//
// A pool holds memory until a call gives it back, or until it was unused for Config.TrimAfter.
// By default that is 10 seconds, on every device, also while the pool is in use. A Pool that is
// itself forgotten gives back held memory; its buffers stay valid, with all their methods.
// Close gives held memory back at once and reports buffers that are still active.
type Pool struct{ pool *pool }

// errNotOpened is what Gets of a nil or zero Pool return.
var errNotOpened = fmt.Errorf("slab: a Pool that Open did not return: %w", ErrClosed)

// isOpened reports whether p came from Open.
func (p *Pool) isOpened() bool { return p != nil && p.pool != nil }

// opened returns the pool that Open made for p, or panics.
func (p *Pool) opened() *pool {
	if !p.isOpened() {
		panic("slab: a Pool that Open did not return")
	}
	return p.pool
}

// A pool is a Pool without the part that its user holds, so that the collector can
// tell when the user has let go of it. docs/design.md lists all locks in their order; of
// the pool's own, reclaimMu comes before those of the caches, the strategy, the table,
// the pending blocks and the leaks.
type pool struct {
	config     settings
	upstream   Allocator
	accounting *upstream.Accounting
	strategy   Allocator
	unwrapped  Allocator // strategy, without what verifies or checks it
	blocks     numbered  // of strategy
	joint      numbered  // blocks, if mu guards them and no wrapper is before them; else nil

	direct  int // bytes up to which Get has no more to do than a hit; 0 is none
	cache   percpu.Cache
	mu      sync.Mutex // of the table, what the cache counts under it, and a page heap
	table   handle.Table
	pending pending.Queue

	check   *canary.Check // nil unless Config.Check
	leaks   watch.Log
	guard   guarding
	gc      gcpressure.Pressure
	lookout floor.Lookout // of a pool on the Go heap
	growth  floor.Growth  // of others
	warned  atomic.Bool   // that slices are lost
	clock   clock.Clock
	profile watch.Sampler

	reclaimers budget.Members   // keepers of buffers of the pool
	left       inside.Tally     // buffers that they have left to the collector
	budgets    []*budget.Budget // all that may refuse memory, the nearest first; at least one
	waits      waits
	refusals   refusals
	reclaimMu  sync.Mutex // held by the goroutine that empties caches and queues
	held       heldBound
	closed     atomic.Bool
	counted    counted
	peak       activePeak
	onClose    []func() error

	abandoned, ended, deviceClosed atomic.Bool // see close.go

	front weak.Pointer[Pool] // the program's Pool
}

// poolOf returns the pool of a slot.
func poolOf(s *handle.Slot) *pool { return (*pool)(s.Owner()) }

// settings are a Config with its defaults filled in, and as it was given.
type settings struct {
	Config
	given       Config
	on          Allocator     // the argument of Open
	device      device.Device // to be closed with the pool, or nil
	processors  int           // of a replay; 0: those of the machine
	needsFinish bool          // Get has more to do than to hand out
}

func (s *settings) closeDevice() error {
	if s.device == nil {
		return nil
	}
	return s.device.Close()
}

// replayed reports whether the pool is one of a replay.
func (s *settings) replayed() bool { return s.processors > 0 }

// cpus returns how many processors have caches.
func (s *settings) cpus() int {
	if s.replayed() {
		return s.processors
	}
	return pin.Numbers()
}

// profileRate is Config.ProfileRate, and 0 in a replay, which has to repeat.
func (s *settings) profileRate() int64 {
	if s.replayed() {
		return 0
	}
	return s.ProfileRate
}

// reuses reports whether a block may have a new owner without a visit to the strategy.
func (c *settings) reuses() bool { return !c.Zero && !c.Check }

// waits counts the calls that wait for memory of a pool.
type waits struct {
	hurried atomic.Int32 // budgets of the pool that somebody waits for
	streams atomic.Bool  // a goroutine waits for streams

	now, calls, nanoseconds atomic.Int64 // of this pool's
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

// A heldBound keeps Config.MaxHeld in a pool with caches.
type heldBound struct {
	bytes  int64       // that the strategy may hold; 0 if there is no bound
	cached atomic.Bool // a block was cached since the caches were emptied for the bound
}

// exceeded reports whether the strategy holds more than its part of Config.MaxHeld. The
// strategy gives back all it can, but a block in a cache keeps the rest of its slab; so no
// block is cached then.
func (h *heldBound) exceeded(strategy Allocator) bool {
	return h.bytes > 0 && h.isOver(strategy)
}

func (h *heldBound) isOver(strategy Allocator) bool { return usageOf(strategy, 0).HeldBytes > h.bytes }

// note notes that a block is cached.
func (h *heldBound) note() {
	if !h.cached.Load() {
		h.cached.Store(true)
	}
}

// counted has the counts of a pool that are not in its caches.
type counted struct {
	failed, trims, trimmed atomic.Int64
	steps, relieved        atomic.Int64 // of Config.Pressure
}
