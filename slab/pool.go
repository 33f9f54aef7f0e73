package slab

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

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
// A pool that sees no Get or Release between two collections gives back what it
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
	if uint(size-1) >= uint(k.cache.largest) {
		return k.get(size, k.cache.uncached(), true)
	}
	class := k.cache.grid.index(size)
	var e entry
	var ok bool
	id := k.cache.enter()
	if m := k.cache.magazine(id, class); m != nil {
		e, ok = m.pop(size)
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

// get is Get without a block at hand: from the depot, else from the strategy,
// for a whole class if the block is to be cached. Whether it may stall until
// a stream is done is for the caller to say.
func (k *core) get(size, class int, stall bool) (PooledBuffer, error) {
	if k.closed.Load() {
		return PooledBuffer{}, ErrClosed
	}
	if size < 0 {
		return PooledBuffer{}, fmt.Errorf("slab: Get of %d bytes: %w", size, ErrSize)
	}
	ask := size
	if class < k.cache.uncached() {
		if e, ok := k.fromCaches(class, size); ok {
			return k.hand(e, size)
		}
		ask = k.cache.grid.Size(class)
	}
	if size > 0 {
		k.sweep()
	}
	for {
		blk, err := k.alloc(ask, stall)
		if err != nil {
			return PooledBuffer{}, k.failed(size, ask, err)
		}
		k.valve.check(k)
		s, ptr := k.admit(blk, class)
		if s == nil {
			continue
		}
		k.cache.countGet(size)
		return k.hand(entry{s, ptr, s.word.Load()}, size)
	}
}

// fromCaches looks where Get has not: in the spare batch and then in the depot,
// and for a large block, before it goes upstream, also in classes above: up to a doubling
// at first, then to two, and with other processors.
func (k *core) fromCaches(class, size int) (entry, bool) {
	above := 0
	if size > carveLimit {
		above = k.config.Steps
	}
	if e, ok := k.cache.again(class, above, size); ok {
		return e, true
	}
	for c := class; c <= class+above && c < k.cache.uncached(); c++ {
		if e, ok := k.refill(c, size); ok {
			return e, true
		}
	}
	if above == 0 {
		return entry{}, false
	}
	if e, ok := k.cache.again(class, 2*above, size); ok {
		return e, true
	}
	return k.stealCached(class, 2*above, size)
}

// hand makes an entry a handle. Get does the same by itself: this is too large to
// be inlined.
func (k *core) hand(e entry, size int) (PooledBuffer, error) {
	e.s.asked.Store(int64(size))
	b := PooledBuffer{own: e.s, ptr: e.p, gen: e.gen, n: size}
	if k.careful {
		return k.handCarefully(b)
	}
	return b, nil
}

// handCarefully does what only some pools have to do for a Get.
func (k *core) handCarefully(b PooledBuffer) (PooledBuffer, error) {
	if k.sites != nil {
		k.got(b)
	}
	if k.config.Zero {
		return k.zero(b)
	}
	return b, nil
}

// alloc is the strategy's Alloc with all that a pool can do when there is no
// room: empty the caches, wait for streams, give back what is held, ask pools
// that share the budget to do so. Without stall only the first of it.
func (k *core) alloc(size int, stall bool) (device.Block, error) {
	b, err := k.strategy.Alloc(size)
	if outOfMemory(err) && k.emptyCaches() {
		b, err = k.strategy.Alloc(size)
	}
	for stall && outOfMemory(err) && k.settleOne() {
		b, err = k.strategy.Alloc(size)
	}
	if !stall || !outOfMemory(err) {
		return b, err
	}
	k.freeHeld()
	for _, s := range sharersOf(k.upstream) {
		s.Reclaim(k)
	}
	return k.strategy.Alloc(size)
}

// zero clears a fresh buffer, or releases it and says why it cannot.
func (k *core) zero(b PooledBuffer) (PooledBuffer, error) {
	if b.ptr != nil {
		clear(unsafe.Slice((*byte)(b.ptr), b.n))
		return b, nil
	}
	if err := k.fillDevice(b); err != nil {
		return PooledBuffer{}, errors.Join(err, b.Release())
	}
	return b, nil
}

func (k *core) fillDevice(b PooledBuffer) error {
	if k.device == nil {
		return fmt.Errorf("slab: GetZeroed of memory that neither the CPU nor a known device can clear: %w", device.ErrUnavailable)
	}
	s, err := k.device.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(s.Fill(b.Block(), 0), s.Sync(), s.Close())
}
