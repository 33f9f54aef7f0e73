package slab

import (
	"github.com/bufslab/bufslab/slab/internal/percpu"
)

// Blocks in caches are held memory, too. So the bounds of Config on held memory bound
// the caches: block by block, and together to a quarter of Config.MaxHeld. A pool with
// a bound on the number of held blocks has no caches.

const (
	// cachedLimit is the largest block that is cached. To touch 1 MiB takes thirty times as long as a miss, so
	// that nobody feels what the cache of a larger block gains. And where large sizes vary, caches of up to 32 MiB took
	// half as much memory again.
	cachedLimit = 2 << 20
	// cacheShare is the share of the managed bytes, as a divisor, that caches may hold without having
	// earned it: cached blocks cannot be merged, and serve one size alone.
	cacheShare = 32
	// depotBytes bounds the depot where memory is held anyway: a bound below the bytes
	// that a program hands over made the program a thousand times slower.
	depotBytes = 1 << 30
)

// cacheOptions returns the caches that c asks for, for that number of processors.
func cacheOptions(c Config, processors int) percpu.Options {
	if c.CacheBytes <= 0 || c.Check {
		return percpu.Options{}
	}
	o := percpu.Options{Largest: cachedLimit, Bytes: c.CacheBytes, Depot: depotBytes, Divisor: cacheShare,
		Least: percpu.LeastBytes}
	how := cachedByHeap
	if r := rowOf(c.Strategy); r.caches != nil {
		how = r.caches
	}
	k := how(c)
	o.Grid, o.ExactAbove, o.Miss = *k.grid, k.exactAbove, k.miss
	return bound(o, c, processors)
}

// bound lowers the bounds of the caches to the bounds of c.
func bound(o percpu.Options, c Config, processors int) percpu.Options {
	if n := c.MaxBlockBytes; n > 0 && n < int64(o.Largest) {
		o.Largest = largestWithin(&o.Grid, int(n))
	}
	switch {
	case c.MaxHeldBlocks < 0:
		return percpu.Options{}
	case c.MaxHeld != 0:
		share := heldLimit(c.MaxHeld) / 4 / int64(processors+1) // one for the depot
		if share < percpu.LeastBytes {
			return percpu.Options{}
		}
		o.Bytes, o.Depot = min(o.Bytes, share), min(o.Depot, share)
	}
	return o
}

// largestWithin returns the size of the largest class of at most n bytes, or 0.
func largestWithin(c Classes, n int) int {
	for i := c.Index(n); i >= 0; i-- {
		if size := c.Size(i); size <= n {
			return size
		}
	}
	return 0
}

// heldBelow returns the part of Config.MaxHeld that the caches leave for the strategy.
func heldBelow(o percpu.Options, maxHeld int64) int64 {
	return maxHeld - o.Bytes*int64(o.Processors) - o.Depot
}
