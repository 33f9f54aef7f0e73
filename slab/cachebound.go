package slab

import "math"

// What lies in caches is held too, so what Config says of held memory bounds
// them: block by block, and together to a quarter of Config.MaxHeld. Where
// blocks are counted nothing is cached, as a cache is not the place to count.

// leastCache is the least a processor that is worth having.
const leastCache = 64 << 10

// bound lowers what the caches may hold to what c allows.
func (k *cache) bound(c Config) {
	if n := c.MaxBlockBytes; n > 0 && n < int64(k.largest) {
		k.largest = largestWithin(k.grid, int(n))
	}
	switch {
	case c.MaxHeldBlocks < 0, c.MaxHeldBlocks > 0 && c.MaxHeldBlocks < math.MaxInt:
		k.largest = 0
	case c.MaxHeld != 0:
		share := heldLimit(c.MaxHeld) / 4 / int64(len(k.shards)+1) // one for the depot
		k.bytes, k.waiting = min(k.bytes, share), min(k.waiting, share)
		if share < leastCache {
			k.largest = 0
		}
	}
}

// held returns what is left of Config.MaxHeld for the strategy.
func (k *cache) held(c Config) int64 {
	if c.MaxHeld <= 0 || k.largest == 0 {
		return c.MaxHeld
	}
	return c.MaxHeld - k.bytes*int64(len(k.shards)) - k.waiting
}

// overHeld reports whether the strategy holds more than its part of
// Config.MaxHeld. It gives back what it can, but a block in a cache keeps the
// rest of its slab; so nothing is cached then.
func (k *core) overHeld() bool {
	if k.config.MaxHeld <= 0 || k.cache.largest == 0 {
		return false
	}
	u, ok := k.strategy.(User)
	return ok && u.Usage().HeldBytes > k.cache.held(k.config)
}

// fill notes that something is cached.
func (k *cache) fill() {
	if !k.filled.Load() {
		k.filled.Store(true)
	}
}

// keepBound empties the caches if they keep the strategy from its bound.
func (k *core) keepBound() {
	if k.overHeld() && k.cache.filled.Swap(false) {
		k.emptyCaches()
	}
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
