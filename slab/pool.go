package slab

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pending"
	"github.com/bufslab/bufslab/slab/internal/percpu"
	"github.com/bufslab/bufslab/slab/internal/upstream"
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

	cache   percpu.Cache
	table   handle.Table
	pending pending.Queue

	leaks leakLog
	gc    gcPressure
	clock clock

	keepers   sharers    // who keep buffers of the pool
	reclaimMu sync.Mutex // held by the goroutine that empties caches and queues
	held      heldBound
	closed    atomic.Bool
	onClose   []func() error
}

// settings are a Config with its defaults filled in, and as it was given.
type settings struct {
	Config
	given       Config
	needsFinish bool // Get has more to do than to hand out
}

// Open returns a pool that draws on upstream, a device or any Allocator, as c says.
// Defaults depend on the device, if it is one. Config.Device opens nothing: see
// [OpenConfig], and there for the order of the stack. If the device puts memory behind
// a block only when it is first used, a warning goes to package log/slog and to
// Explain. The error is a *ConfigError that names every fault of c, or that of creating
// the record file.
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
	if warning := c.traits.warning(); warning != "" {
		slog.Warn("slab: " + warning)
	}
	p := &pool{config: settings{Config: c.withDefaults(), given: c}}
	if err := p.stack(upstream); err != nil {
		return nil, err
	}
	for _, s := range sharersOf(p.upstream) {
		s.Share(p)
	}
	p.clock.start(p)
	watchCollections(p)
	front := &Pool{p}
	runtime.AddCleanup(front, (*pool).abandon, p)
	return front, nil
}

// stack builds what stands on an upstream: limit, accounting, strategy, wrappers,
// caches.
func (p *pool) stack(on Allocator) error {
	c := p.config.Config
	align := max(c.Align, 16)
	if c.MaxBytes > 0 {
		on = newLimit(on, c.MaxBytes, align)
	}
	p.upstream, p.accounting = on, account(on, align, p.table.Forget)
	caches := cacheOptions(c)
	caches.Managed, caches.Free = p.accounting.Managed, p.free
	p.cache.Open(caches)
	if c.MaxHeld > 0 && caches.Largest > 0 {
		c.MaxHeld = heldBelow(caches, c.MaxHeld)
		p.held.bytes = c.MaxHeld
	}
	if err := p.openStrategy(c); err != nil {
		return err
	}
	p.leaks.open(c)
	p.config.needsFinish = p.leaks.sites != nil || c.Zero
	reachable, unreachable := watchFrom(c)
	p.table.Open(unsafe.Pointer(p), handle.Options{
		WatchCollected: p.accounting.OwnsRegions(), WatchFrom: reachable, WatchUnreachableFrom: unreachable,
		Forgotten: p.forgotten, Free: p.freeForgotten, Quarantine: p.quarantine,
	})
	p.clock.set(c)
	p.gc = gcPressure{limit: c.GCTrigger, tracked: p.table.WatchedBytes, found: p.leaks.forgottenBytes}
	return nil
}

// openStrategy builds the strategy over the accounting, and its wrappers.
func (p *pool) openStrategy(c Config) error {
	p.strategy = newStrategy(p.accounting.Checked(), c, p)
	own := isBuiltin(c.Strategy)
	if !own {
		p.strategy = newVerified(p.strategy, max(c.Align, 16), p.accounting.Managed)
	}
	if c.Check {
		k := newCheck(p.strategy, max(c.Align, c.traits.Align))
		if own { // others may keep links in free blocks
			k.lookAgain()
			p.accounting.OnLeave(k.leave)
		}
		p.strategy, p.leaks.check = k, k
	}
	if c.Record != "" {
		r, finish, err := recordTo(c.Record, p.strategy)
		if err != nil {
			return err
		}
		p.strategy, p.onClose = r, append(p.onClose, finish)
	}
	p.blocks = numberedOf(p.strategy)
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
	if !q.cache.Caches(size) {
		return q.get(size, q.cache.Uncached(), true)
	}
	class := q.cache.Class(size)
	var e handle.Entry
	on := q.cache.Pin()
	if c := q.cache.At(on.ID(), class); c != nil {
		if at := c.Top(size); at != nil {
			e = c.Take(at, size)
			c.Leave()
			q.cache.Unpin(on)
			if q.config.needsFinish {
				return q.hand(e, size)
			}
			return lend(e, size), nil
		}
		c.Leave()
		e = q.cache.Retry(on.ID(), class, size)
	}
	q.cache.Unpin(on)
	if e.Slot == nil {
		return q.get(size, class, true)
	}
	return q.hand(e, size)
}

// lend makes the first size bytes of a block a handle.
func lend(e handle.Entry, size int) PooledBuffer {
	return PooledBuffer{slot: e.Slot, ptr: e.Mem, gen: e.Slot.Lend(size), n: size}
}

// GetZeroed is Get with the size bytes cleared, whatever the block has beyond. For
// device memory it needs a pool that was opened on the device itself.
func (p *Pool) GetZeroed(size int) (PooledBuffer, error) {
	b, err := p.Get(size)
	if err != nil || p.pool.config.Zero {
		return b, err
	}
	return zero(b, p.pool.upstream)
}
