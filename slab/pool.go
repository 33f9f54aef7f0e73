package slab

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pending"
	"github.com/bufslab/bufslab/slab/internal/percpu"
	"github.com/bufslab/bufslab/slab/internal/upstream"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A Pool hands out buffers of an upstream's memory and keeps what comes back for
// reuse, by the strategy that its Config names. It is safe for concurrent use.
//
// Before its strategy it keeps some released blocks for each processor
// (Config.CacheBytes), and it gives every buffer a handle that can be released once.
// Beneath the strategy stand, in this order from the upstream: the byte budget
// (Config.MaxBytes) and the accounting.
//
// A buffer that is forgotten comes back and never aliases. On the Go heap the
// collector watches the memory, so any live slice of a buffer delays it; small
// buffers share slabs and come back with them. Off the heap a buffer comes back if its
// bytes were used through With or not at all. If Bytes was called, the address is
// never used again, the pages are given back, and a late reader of them faults. Off the heap the pool does not notice
// that a buffer of at most 4 KiB of host memory was forgotten, unless Config.OnForget is
// "report".
//
// Memory that streams of a device work on may be released as soon as the work is
// enqueued: see [PooledBuffer.UsedOn] and [Pool.GetOn].
//
// A pool holds until it is told to give back, or until it was idle for Config.Idle: on
// the Go heap that is 10 seconds unless set, and with sizeclass one in use gives back
// there what it has not touched for so long. Elsewhere it is never. A Pool that is itself
// forgotten gives back what it holds; its buffers stay valid. Close does so at once and
// reports what is still out.
type Pool struct{ pool *pool }

// errNotOpened is what Gets of a nil or zero Pool return.
var errNotOpened = fmt.Errorf("slab: a Pool that Open did not return: %w", ErrClosed)

// isOpened reports whether p came from Open.
func (p *Pool) isOpened() bool { return p != nil && p.pool != nil }

// opened returns what p has from Open, or panics.
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
	blocks     numbered // of strategy
	joint      numbered // blocks, if mu guards them and nothing stands before them; else nil

	direct  int // bytes up to which a hit is all that Get has to do; 0 where it never is
	cache   percpu.Cache
	mu      sync.Mutex // of the table, what the cache counts under it, and a page heap
	table   handle.Table
	pending pending.Queue

	check   *Check // nil unless Config.Check
	leaks   watch.Log
	guard   guarding
	gc      gcPressure
	clock   clock
	profile watch.Sampler

	typical    typicalSize      // of Buffers
	reclaimers budget.Members   // that keep buffers of the pool
	budgets    []*budget.Budget // that may refuse memory, the nearest first; at least one
	waits      waits
	reclaimMu  sync.Mutex // held by the goroutine that empties caches and queues
	held       heldBound
	closed     atomic.Bool
	counted    counted
	onClose    []func() error
}

// Open returns a pool that draws on upstream, a device or any Allocator, as c says.
// Defaults depend on the device, if it is one. Config.Device opens nothing: see
// [OpenConfig], and there for the order of the stack. If the device puts memory behind
// a block only when it is first used, a warning goes to Config.Logger and to Explain.
//
// The error is a *ConfigError that names every fault of c, a *[FileError], that of opening or
// creating a file that c names, or that of the device where it has no room for Config.Reserve.
// The pool then has nothing of its upstream.
func Open(upstream Allocator, c Config) (*Pool, error) {
	if upstream == nil {
		return nil, fmt.Errorf("%w: a pool has none", ErrUpstream)
	}
	dev := deviceOf(upstream)
	if dev != nil && c.Device == "" {
		c.Device = dev.Name() // defaults depend on it
	}
	c.traits = traitsOf(dev)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	full := c.withDefaults()
	full.Name = c.nameOr(full)
	if warning := c.traits.warning(); warning != "" {
		full.log().Warn("slab: " + warning)
	}
	p := &pool{config: settings{Config: full, given: c, on: upstream}}
	if err := p.open(); err != nil {
		return nil, err
	}
	front := &Pool{p}
	runtime.AddCleanup(front, (*pool).abandon, p)
	return front, nil
}

// open builds the stack of a pool that has its settings, and lets it run.
func (p *pool) open() error {
	if err := p.stack(p.config.on); err != nil {
		return err
	}
	p.enterBudgets()
	if !p.config.replayed() {
		p.clock.start(p)
		watchCollections(p)
	}
	return nil
}

// stack builds what stands on an upstream.
func (p *pool) stack(on Allocator) error {
	c := p.config.Config
	p.drawOn(on, c)
	caches := p.openCaches(c)
	p.openTable(c)
	if c.MaxHeld > 0 && caches.Largest > 0 {
		c.MaxHeld = heldBelow(caches, c.MaxHeld)
		p.held.bytes = c.MaxHeld
	}
	if err := p.openStrategy(c); err != nil {
		return err
	}
	return p.openWatchers(c, caches.Largest)
}

// drawOn puts the limit of c and the accounting on an upstream.
func (p *pool) drawOn(on Allocator, c Config) {
	align := max(c.Align, 16)
	if c.MaxBytes > 0 {
		on = newLimit(on, c.MaxBytes, align)
	}
	p.upstream, p.accounting = on, account(on, align, p.table.Forget)
}

// openCaches opens the caches that c asks for, and returns what they are told.
func (p *pool) openCaches(c Config) percpu.Options {
	o := cacheOptions(c, p.config.cpus())
	o.Processors, o.Replayed = p.config.cpus(), p.config.replayed()
	o.Managed, o.Free, o.Pace, o.Lock = p.accounting.Managed, p.free, p.profile.Open(p.config.profileRate()), &p.mu
	p.cache.Open(o)
	return o
}

func (p *pool) openTable(c Config) {
	reachable, unreachable := watchFrom(c)
	p.table.Open(unsafe.Pointer(p), handle.Options{
		Lock: &p.mu, WatchCollected: p.accounting.OwnsRegions(), WatchFrom: reachable, WatchUnreachableFrom: unreachable,
		Forgotten: p.forgotten, PartForgotten: p.leaks.PartForgotten, Found: p.guard.regionFound, Free: p.freeForgotten, Quarantine: p.quarantine,
	})
}

// openWatchers opens what looks on, and says up to which size a hit is all that Get has to do.
func (p *pool) openWatchers(c Config, cached int) error {
	if err := p.openLog(c); err != nil {
		forward{upstream: p.strategy}.FreeHeld() // the reserve
		return err
	}
	if r := p.leaks.Record; r != nil {
		p.onClose = append(p.onClose, r.Close)
	}
	p.config.needsFinish = p.leaks.SeesAll() || c.Zero
	if !p.config.needsFinish {
		p.direct = cached
	}
	p.clock.set(c)
	if p.config.replayed() {
		c.GCTrigger = -1
	}
	p.gc = gcPressure{limit: c.GCTrigger, tracked: p.table.WatchedBytes, found: p.leaks.ForgottenBytes}
	return nil
}

// poolOf returns the pool of a slot.
func poolOf(s *handle.Slot) *pool { return (*pool)(s.Owner()) }

// Get returns a buffer of size bytes with undefined contents. Size 0 gives an empty
// buffer without a call upstream. The error wraps ErrSize for a negative size,
// ErrClosed after Close, and for a Pool that Open did not return. It is an
// *OutOfMemoryError where there is no room though all held memory was given back and all
// streams that use released memory were waited for; nothing changes then.
func (p *Pool) Get(size int) (PooledBuffer, error) {
	if !p.isOpened() {
		return PooledBuffer{}, errNotOpened
	}
	q := p.pool
	class := q.cache.Class(size) // before the branch: below it the compiler would compute it after Pin
	if uint(size-1) >= uint(q.direct) {
		return p.get(size)
	}
	on := q.cache.Pin()
	c := q.cache.At(on.ID(), class)
	if c.Enter() {
		if at := c.Top(); at.Slot.Len() >= size {
			e := c.Take(at, size)
			c.Leave()
			q.cache.Unpin(on)
			return lend(e, size), nil
		}
	}
	c.Leave()
	e, stands := q.cache.Retry(on.ID(), class, size)
	q.cache.Unpin(on)
	if e.Slot == nil {
		return p.miss(size, class)
	}
	return q.hand(e, size, stands)
}
