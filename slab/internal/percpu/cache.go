// Package percpu caches released blocks in front of a strategy, for each
// processor by itself: a hit takes no lock and touches nothing that another
// processor writes.
//
//	cache.go       the caches of all processors, and the way to one
//	classcache.go  blocks of one class on one processor, and a hit: Enter, Top, Take and Leave, and Push
//	state.go       the word that a hit changes
//	magazine.go    blocks that change hands as a whole
//	cpu.go         the state of a processor that is not in its class caches
//	depot.go       where magazines wait for other processors
//	options.go     facts and functions of the pool
//	pin*.go        which goroutine may touch a processor's caches
//	refill.go      what happens when a class cache is empty
//	resize.go      what happens when a class cache is full
//	spill.go       where magazines go that leave a class cache
//	budget.go      how much a processor may hold
//	worth.go       which blocks are worth holding, by the time of clock.go
//	evict.go       which class loses its blocks
//	reclaim.go     how other goroutines empty the caches
//	idle.go        which blocks were not needed
//	sample.go      which hits a profile samples
//	counters.go    the calls that no class cache serves, and which of them are sampled
//	usage.go       blocks in the caches, and counts of all calls
//	check.go       sums that have to agree, in check builds
//
// Each file uses only files that know less: a class cache knows magazines, a cpu knows its class caches,
// and the methods of Cache know all.
//
// The design is from Bonwick and Adams, "Magazines and Vmem" (USENIX 2001):
// two magazines a class, so that a program which swings around the edge of a magazine
// does not go to the depot every time. Budgets follow tcmalloc's per-CPU caches.
//
// For the strategy a block in a cache is still handed out, and it keeps its slot. So a
// hit touches neither the strategy nor its lock.
package percpu

import (
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/pin"
)

// A Cache holds the caches of all processors. Its zero value caches nothing, but
// counts, once Open has been called.
type Cache struct {
	options Options
	classes int          // class caches a processor has
	caches  []ClassCache // of processor 0, then of processor 1, and so on
	reach   []ClassCache // where At looks: caches, or in a replay the part of the acting processor
	stride  int          // from a processor's first in reach to the next processor's: classes, or 0
	acting  *cpu         // that all calls run on, in a replay
	number  int          // of acting
	told    int64        // the time by SetTime, in a replay; 0 before the first
	none    *ClassCache  // for processors without caches: always closed
	cpus    []cpu
	depot   depot
	mixed   []atomic.Bool // classes whose blocks are as long as the class above ExactAbove, too

	mu     *sync.Mutex     // Options.Lock; guards counts
	_      [lineBytes]byte // keeps the counters off the lines that a hit reads
	counts counters        // of calls that no class cache served
	wants  wants           // blocks that would have saved more

	closing sync.Mutex // held while the class caches are closed
}

// pageCaches is the number of class caches that take more than 32 KiB: an allocation of
// its own, on a page. The runtime puts a word in front of smaller allocations, and each
// class cache would be on two lines.
const pageCaches = 32<<10/lineBytes + 1

// Open makes c ready for use.
func (c *Cache) Open(o Options) {
	c.options, c.mu = o, o.Lock
	c.cpus = make([]cpu, o.Processors)
	c.counts.pace = o.Pace
	c.counts.draw(0, mostBytes)
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
	c.wants = newWants(&c.options, c.classes, clock(&c.options, &c.told, &c.counts, c.cpus))
	n := c.classes * len(c.cpus)
	all := make([]ClassCache, n+1, max(n+1, pageCaches))
	c.caches, c.none = all[:n:n], &all[n]
	c.none.limit.Store(^0)
	c.reach, c.stride = c.caches, c.classes
	for i := range c.cpus {
		c.cpus[i].open(&c.options, &c.wants, c.caches[i*c.classes:(i+1)*c.classes])
	}
}

// Caches reports whether blocks for size bytes are cached.
func (c *Cache) Caches(size int) bool { return uint(size-1) < uint(c.options.Largest) }

// Class returns the class of blocks for size bytes. If such blocks are not cached, it is any number.
func (c *Cache) Class(size int) int { return c.options.Grid.At(size) }

// Uncached is the class of blocks that are not cached.
func (c *Cache) Uncached() int { return c.classes }

// Fit returns the class for size bytes, and the bytes to ask of the strategy for a block of the
// class. If such blocks are not cached, it returns Uncached and size.
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
func (c *Cache) BlockBytes(class int) int64 { return c.options.blockBytes(class) }

// At returns the cache of a class, not Uncached, on processor id. A processor that came when
// GOMAXPROCS was raised has no caches: for it At returns a class cache that is always closed. The
// caller is pinned.
func (c *Cache) At(id, class int) *ClassCache {
	i := uint(id*c.stride + class)
	if i >= uint(len(c.reach)) {
		return c.none
	}
	return &c.reach[i]
}

// cpu returns the cpu of processor id, or nil. The caller is pinned, and calls leave at the
// end.
func (c *Cache) cpu(id int) *cpu {
	p := c.acting
	if p == nil {
		if id >= len(c.cpus) {
			return nil
		}
		p = &c.cpus[id]
	}
	p.busy = 1
	return p
}

// RunOn lets all calls run as on processor k, in a Cache that is Replayed. The one
// goroutine that uses the Cache may be pinned to any processor: nobody else is on k.
func (c *Cache) RunOn(k int) {
	c.acting, c.number = &c.cpus[k], k
	c.reach, c.stride = c.acting.caches, 0
}

// Processor returns the number of the processor that the caller runs on, which may be another one by now. It
// is that of the processor's caches: under the race detector numbers are not bounded.
func (c *Cache) Processor() int {
	if c.acting != nil {
		return c.number
	}
	on := pin.Pin()
	id := on.ID() % len(c.cpus)
	pin.Unpin(on)
	return id
}

// CountGet counts a Get of size bytes that no class cache served. It returns stands as Retry
// does. The caller holds Options.Lock, as callers of CountMiss, CountRelease, Refused and Missed do.
func (c *Cache) CountGet(size int) (stands float64) {
	c.counts.Hits++
	return c.counts.get(size)
}

// CountMiss is CountGet of a Get that has called upstream. No more Gets have than there were calls: if two Gets run at
// a time, one may have seen the call of the other.
func (c *Cache) CountMiss(size int, calls int64) (stands float64) {
	if c.counts.Misses >= calls {
		return c.CountGet(size)
	}
	c.counts.Misses++
	return c.counts.get(size)
}

// CountRelease counts a Release of size bytes that no class cache took.
func (c *Cache) CountRelease(size int) { c.counts.release(size) }

// Refused notes n blocks of a class that go to the strategy as no cache took them. While the class caches are
// closed they take none, and no class earns by that.
func (c *Cache) Refused(class int, n int32) {
	if class < c.classes && c.caches[class].limit.Load() >= 0 {
		c.wants.refused(class, n)
	}
}

// Missed notes a Get of a class that the strategy serves.
func (c *Cache) Missed(class int) {
	if class < c.classes {
		c.wants.missed(class)
	}
}
