package strategy

import (
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// NewBitlog returns the strategy bitlog. It keeps blocks that come back in the bins of
// slab.Bitlog: pyopencl's memory pool, counter for counter. A request gets a block
// of its bin's largest size, so a block serves any request of the bin. Out of
// memory, blocks of the largest bins go upstream first, one at a time.
//
// It is simple, and wastes up to 1/2^bits of each request; blocks are not
// aligned within their size. Alloc and Free take constant time.
func NewBitlog(up upstream.Checked, bits int, o freelist.Options) *Keyed {
	o.Ordered = true
	bins := sizeclass.Bitlog(bits)
	bin := func(n int) (key, blockSize int) {
		i := bins.Index(n)
		if i < 0 {
			return -1, n // of no bin: too large, and never held
		}
		return i, bins.Size(i)
	}
	return newKeyed(up, o, bin)
}
