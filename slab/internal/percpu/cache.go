// Package percpu caches released blocks in front of a strategy, for each
// processor by itself: a hit takes no lock and touches nothing that another
// processor writes.
//
//	cache.go      the caches, and a hit: Enter, Top, Take and Leave, and Push
//	options.go    what they need to know of their pool
//	cpu.go        the processor that a call runs on
//	pin*.go       who may touch a processor's caches
//	refill.go     what happens when a class cache is empty
//	resize.go     what happens when it is full
//	budget.go     how much it may hold
//	worth.go      what is worth holding
//	depot.go      where magazines wait for other processors
//	reclaim.go    how the caches are emptied by others
//	idle.go       what of them was not needed
//	sample.go     which hits a profile samples, and how they are counted
//	usage.go      what is in them, and the counters
//	check.go      what has to add up, in check builds
//
// The design is that of Bonwick and Adams, "Magazines and Vmem" (USENIX 2001):
// two magazines a class, so that a program which swings around the edge of one
// does not go to the depot every time. Budgets follow tcmalloc's per-CPU caches.
//
// A block in a cache is still out of the strategy, with its slot. So a hit
// touches neither the strategy nor its lock.
package percpu

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Cache holds the caches of all processors. Its zero value caches nothing, but
// counts, once Open has been called.
type Cache struct {
	options Options
	classes int          // class caches a processor has
	caches  []ClassCache // of processor 0, then of processor 1, and so on
	reach   []ClassCache // where At looks: caches, or in a replay those of the processor it runs on
	stride  int          // from a processor's first in reach to the next one's: classes, or 0
	acting  *cpu         // that all calls run on, in a replay
	none    *ClassCache  // what processors without caches have: always closed
	cpus    []cpu
	depot   depot
	mixed   []atomic.Bool // classes whose blocks are as long as the class above ExactAbove, too

	mu     *sync.Mutex     // Options.Lock; guards counts
	_      [lineBytes]byte // keeps the counters off the lines that a hit reads
	counts counters        // what no class cache served
	wants  wants           // what would have saved more

	closing sync.Mutex // held while the class caches are closed
}

// A cpu is what one processor has beside its class caches. Only the pinned
// goroutine may change it; gets, arms and busy are read from outside, too.
type cpu struct {
	caches  []ClassCache // those of Cache that are this processor's
	seen    []sight      // of each, at the last reclaim
	uses    []use        // of each, see worth.go
	empty   *magazine    // in reserve, for the next class cache that overflows
	victim  int          // the class whose cache was shrunk last
	looked  int          // the class that letGo has looked at last
	refused uint32       // blocks that went to the strategy; see letGo
	busy    uint32       // not 0 while a goroutine is here; see quiesce

	granted int64 // bytes that caches may hold: the limit and the previous magazine of each

	gets atomic.Int64  // of class caches, until each was last armed
	arms atomic.Uint32 // counts them twice, so that it is odd meanwhile

	mu sync.Mutex // of the race detector's build; see Pin

	_ [64]byte // keeps the next cpu off this one's lines
}

// A ClassCache holds blocks of one class on one processor: some in loaded, and
// below them a previous magazine or none. Only the pinned goroutine may change
// its fields, and only while limit >= 0; limit itself is atomic. Usage and worthClosing
// read them from outside, without synchronisation. A ClassCache
// fills one cache line, and a hit touches that, the line of the entry, and
// the line of the slot.
type ClassCache struct {
	loaded, previous *magazine
	state            uint64 // blocks in loaded, and Gets: see sample.go
	got, released    int64  // bytes, by hits
	moved            int64  // blocks that magazines have brought, less those they took

	// Fills the line where pointers are short. It is not last: there nothing takes room, too.
	_ [lineBytes - 48 - 2*unsafe.Sizeof(uintptr(0))]byte

	limit     atomic.Int32 // of blocks in loaded; negative, ^limit, while the class cache is closed
	busy      uint32       // not 0 while a goroutine is here; see quiesce
	_         uint32
	nprevious int32 // blocks in previous
}

const lineBytes = 64

// A magazine is an array of blocks that changes hands as a whole.
type magazine struct {
	entries [magazineSlots]handle.Entry
	n       int32 // outside of class caches
	class   int32 // outside of class caches
	next    *magazine
}

const (
	magazineSlots = 32
	// classBytes bounds the blocks of a class cache, within 2 and 64 of them:
	// on two processors 8 blocks of 256 KiB were ten times slower than 64.
	classBytes = 64 << 20
	// LeastBytes is the least budget of a processor that makes a cache worth having.
	LeastBytes = 16 << 10
	// pageCaches is how many class caches are more than 32 KiB: an allocation of
	// its own, on a page. The runtime puts a word in front of smaller ones, and each
	// class cache would be on two lines.
	pageCaches = 32<<10/lineBytes + 1
)

// Open makes c ready for use.
func (c *Cache) Open(o Options) {
	c.options = o
	if c.options.Processors == 0 {
		c.options.Processors = pin.Numbers()
	}
	if c.mu = o.Lock; c.mu == nil {
		c.mu = new(sync.Mutex)
	}
	c.cpus = make([]cpu, c.options.Processors)
	c.drawMissed()
	if o.Replayed {
		defer c.RunOn(0)
	}
	if o.Largest == 0 {
		return
	}
	pin.Prepare() // for the first reclaim
	c.classes = c.options.Grid.Index(o.Largest) + 1
	c.mixed = make([]atomic.Bool, c.classes)
	c.depot.classes = make([]depotClass, c.classes)
	c.wants = newWants(c.classes)
	n := c.classes * len(c.cpus)
	all := make([]ClassCache, n+1, max(n+1, pageCaches))
	c.caches, c.none = all[:n:n], &all[n]
	c.none.limit.Store(^0)
	c.reach, c.stride = c.caches, c.classes
	for i := range c.cpus {
		c.cpus[i].caches = c.caches[i*c.classes : (i+1)*c.classes]
		c.cpus[i].seen = make([]sight, c.classes)
		c.cpus[i].uses = make([]use, c.classes)
	}
}

// Caches reports whether blocks for size bytes are cached.
func (c *Cache) Caches(size int) bool { return uint(size-1) < uint(c.options.Largest) }

// Class returns the class of blocks for size bytes; where they are not cached, some number.
func (c *Cache) Class(size int) int { return c.options.Grid.At(size) }

// Uncached is the class of blocks that are not cached.
func (c *Cache) Uncached() int { return c.classes }

// Fit returns the class for size bytes, and how many to ask of the strategy for a block of
// it; where that is not cached, Uncached and size.
func (c *Cache) Fit(size int) (class, ask int) {
	switch o := &c.options; {
	case !c.Caches(size):
		return c.Uncached(), size
	case o.ExactAbove > 0 && size > o.ExactAbove && !c.mixed[c.Class(size)].Load():
		return c.Class(size), size
	}
	class = c.Class(size)
	return class, int(c.BlockBytes(class))
}

// BlockBytes returns the size of the blocks of a class, at most.
func (c *Cache) BlockBytes(class int) int64 { return int64(c.options.Grid.Size(class)) }

// At returns the cache of a class, not Uncached, on processor id. A processor that came when
// GOMAXPROCS was raised has none: for it At returns one that is always closed. The caller is
// pinned.
func (c *Cache) At(id, class int) *ClassCache {
	i := uint(id*c.stride + class)
	if i >= uint(len(c.reach)) {
		return c.none
	}
	return &c.reach[i]
}

// Enter begins a Get, which Leave ends, and reports whether there is a block to take: the loaded
// magazine has some, and c is not due, which sets the sign bit. The caller is pinned. limit must be
// read before all else.
func (c *ClassCache) Enter() bool {
	c.busy = 1
	return c.limit.Load() >= 0 && int32(c.state)&(due|loadedMask) > 0
}

// Top returns the block that Take takes.
func (c *ClassCache) Top() *handle.Entry {
	return &c.loaded.entries[uint32(c.state-1)%magazineSlots]
}

// Take takes the block that Top has returned, for a Get of size bytes.
func (c *ClassCache) Take(at *handle.Entry, size int) (e handle.Entry) {
	e, *at = *at, handle.Entry{} // or the collector would never find it forgotten
	c.state += oneGet - 1
	c.got += int64(size)
	return e
}

// Leave ends what Enter began.
func (c *ClassCache) Leave() {
	c.busy = 0
}

// Push keeps a block that was released with size bytes, if the loaded magazine
// may have one more. The caller is pinned.
func (c *ClassCache) Push(e handle.Entry, size int) (kept bool) {
	c.busy = 1
	if n := c.state & loadedMask; int32(n) < c.limit.Load() {
		c.loaded.entries[n%magazineSlots] = e
		c.state++
		c.released += int64(size)
		c.busy = 0
		return true
	}
	c.busy = 0
	return false
}
