package slab

// Exact keeps what comes back by its exact size: a block is reused only for a
// request of the same size. It holds at most 100 blocks, and none above 1 GiB,
// unless told otherwise: the pool that PyDotCompute documents. When it holds
// too much, what it has held longest goes upstream.
//
// It suits programs that ask for the same few sizes again and again; with many
// sizes nearly every Alloc misses. It is safe for concurrent use; Alloc and
// Free take constant time.
type Exact struct{ keeper }

// NewExact returns an Exact over upstream. Of c it reads MaxHeld,
// MaxHeldBlocks and MaxBlockBytes.
func NewExact(upstream Allocator, c Config) *Exact {
	c = c.forStrategy("exact", upstream)
	size := func(n int) (key, blockSize int) { return n, n }
	return &Exact{newKeeper(upstream, newShelf(c, false), size)}
}
