package strategy

import (
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// NewExact returns the strategy exact. It keeps blocks by their exact size: a
// block is reused only for a request of the same size. With the defaults, 100
// blocks at most and none above 1 GiB, it is the pool that PyDotCompute
// documents. When it holds too much, the longest held blocks go upstream.
//
// It suits programs that ask for the same few sizes again and again; with many
// sizes nearly every Alloc misses. Alloc and Free take constant time.
func NewExact(up upstream.Checked, o freelist.Options) *Keyed {
	size := func(n int) (key, blockSize int) { return n, n }
	return newKeyed(up, o, size)
}
