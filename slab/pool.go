package slab

import (
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// A Pool hands out buffers of an upstream's memory and keeps what comes back
// for reuse, by the strategy that its Config names. It is safe for concurrent use.
//
// Before its strategy it keeps, for each processor, some released blocks
// (Config.CacheBytes), and it gives every buffer a handle that can be released
// once. Beneath the strategy stand, in this order from the
// upstream: the byte budget (Config.MaxBytes) and a ledger.
//
// A buffer that is forgotten comes back and never aliases. Memory of the Go
// heap is watched itself, so any live slice of a buffer delays it; small
// buffers share slabs and come back with them. Other memory comes back
// if its bytes were used through With or not at all. If Bytes was called, the
// address is never used again and the pages are given back; buffers of
// at most 32 KiB are then not noticed unless Config.OnForget is "report".
//
// Memory that streams of a device work on is released as soon as the work is
// enqueued: see [PooledBuffer.UsedOn] and [Pool.GetOn].
//
// A pool that sees no Get or Release for two collections gives back what it
// holds, as sync.Pool does, and the pages behind it at once; on the Go heap one in
// use gives back what it has not touched for so long. A Pool that is itself forgotten gives back what it holds; its buffers stay
// valid. Close does so at once and reports what is still out.
type Pool struct{ c *core }

// core is the pool without the part that its user holds, so that the
// collector can tell when the user has let go of it.
type core struct {
	config   Config
	given    Config        // without the defaults
	device   device.Device // at the bottom of the stack, nil if there is none
	upstream Allocator
	ledger   ledger
	strategy Allocator
	cache    cache
	report   bool
	careful  bool // Get has more to do than to hand out
	closed   atomic.Bool
	doubles  atomic.Int64
	traffic  atomic.Int64 // Gets and Releases at the last collection
	idle     atomic.Int64 // collections since without any
	epochs   atomic.Int64 // that have ended
	ending   sync.Mutex   // held while one ends

	giving sync.Mutex // held by whoever empties the caches, before all other locks

	mu          sync.Mutex // leaf, but for that of streams
	homes       map[device.Region]*home
	recent      *home // found last
	parked      tally // waiting for their region to be reported lost
	forgotten   tally
	quarantined tally
	sites       map[slotID]site // of Get, where Config asks for it
	lost        []Leak

	streams streams
	valve   valve
	trimmer trimmer
	onClose []func() error
}

// A tally counts blocks and bytes. Its fields are guarded by the owner's lock.
type tally struct{ blocks, bytes int64 }

func (t *tally) add(n int) { t.blocks++; t.bytes += int64(n) }
func (t *tally) sub(n int) { t.blocks--; t.bytes -= int64(n) }

// Open returns a pool that draws on upstream, a device or any Allocator, as c
// says; what of c is not set depends on the device, if it is one. Config.Device
// opens nothing: see [OpenConfig], and there for the order of the stack. A device
// that is [device.Deferred] gets a warning by package log/slog, and in Explain. The
// error is a *ConfigError that names every fault of c, or of the record file.
func Open(upstream Allocator, c Config) (*Pool, error) {
	dev := deviceOf(upstream)
	if dev != nil && c.Device == "" {
		c.Device = dev.Name() // defaults depend on it
	}
	c.on = natureOf(dev)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if warning := c.on.warning(); warning != "" {
		slog.Warn("slab: " + warning)
	}
	given := c
	c = c.withDefaults()
	k := &core{config: c, given: given, device: dev, homes: map[device.Region]*home{}, report: c.OnForget == "report"}
	if c.MaxBytes > 0 {
		upstream = NewLimit(upstream, c.MaxBytes)
	}
	k.upstream = upstream
	k.ledger = ledger{upstream: upstream, own: ownRegions(upstream), align: max(c.Align, 16), left: k.regionLeft}
	k.cache.init(c)
	under := c
	under.MaxHeld = k.cache.held(c)
	k.strategy = newStrategy(&k.ledger, under)
	if c.Check {
		k.strategy = newCheck(k.strategy, max(c.Align, c.on.align))
	}
	if c.Record != "" {
		if err := k.startRecord(c.Record); err != nil {
			return nil, err
		}
	}
	k.valve.limit = c.GCValve
	if c.Check || c.Strict || k.report {
		k.sites = map[slotID]site{}
	}
	for _, s := range sharersOf(upstream) {
		s.Share(k)
	}
	k.careful = k.sites != nil || c.Zero
	k.trimmer.start(k)
	k.watchCollections()
	p := &Pool{k}
	runtime.AddCleanup(p, (*core).abandon, k)
	return p, nil
}

// A sharer is an upstream that several pools draw on: when it has no room, it
// asks the others to give back what they hold.
type sharer interface {
	Share(Reclaimer)
	Unshare(Reclaimer)
	Reclaim(except Reclaimer)
}

// Get returns a buffer of size bytes with undefined contents. Size 0 gives an
// empty buffer without a call upstream. The error wraps ErrSize for a negative
// size, ErrClosed after Close, and is an *OutOfMemoryError where there is no
// room though all held memory was given back, and what streams use was waited
// for; nothing changes then.
func (p *Pool) Get(size int) (PooledBuffer, error) {
	k := p.c
	if uint64(size-1) >= uint64(k.cache.plain.Load()) {
		return k.getTracked(size)
	}
	class := k.cache.grid.index(size)
	var e entry
	var ok bool
	id := k.cache.enter()
	if m := k.cache.magazine(id, class); m != nil {
		if e, ok = m.pop(size); !ok {
			e, ok = k.cache.borrow(id, class, k.cache.above(size), size)
		}
	}
	k.cache.leave(id)
	if !ok {
		return k.get(size, class, true)
	}
	e.s.asked.Store(int64(size))
	b := PooledBuffer{own: e.s, ptr: e.p, gen: e.gen, n: size}
	if k.careful {
		return k.handCarefully(b)
	}
	return b, nil
}

// GetZeroed is Get with the size bytes cleared, whatever the block has beyond.
// For device memory it needs a pool that was opened on the device itself.
func (p *Pool) GetZeroed(size int) (PooledBuffer, error) {
	b, err := p.Get(size)
	if err != nil || p.c.config.Zero {
		return b, err
	}
	return p.c.zero(b)
}
