package slab

import "github.com/bufslab/bufslab/slab/internal/upstream"

// newExact returns the strategy exact. It keeps what comes back by its exact
// size: a block is reused only for a request of the same size. It holds at most
// 100 blocks, and none above 1 GiB, unless told otherwise: the pool that
// PyDotCompute documents. When it holds too much, what it has held longest goes
// upstream.
//
// It suits programs that ask for the same few sizes again and again; with many
// sizes nearly every Alloc misses. Alloc and Free take constant time. Of c it
// reads MaxHeld, MaxHeldBlocks and MaxBlockBytes.
func newExact(up upstream.Checked, c Config) *keyedPool {
	size := func(n int) (key, blockSize int) { return n, n }
	return newKeyed(up, freelistOptions(c, false), size)
}
