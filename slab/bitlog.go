package slab

// BitlogPool keeps what comes back in the bins of [Bitlog]: pyopencl's memory
// pool, counter for counter. A request gets a block of its bin's largest size,
// so a block serves any request of the bin. Out of memory, blocks of the largest
// bins go upstream first, one at a time.
//
// It is simple, and wastes up to 1/2^bits of each request; blocks are not
// aligned within their size. It is safe for concurrent use; Alloc and
// Free take constant time.
type BitlogPool struct{ keeper }

// NewBitlog returns a BitlogPool over upstream. Of c it reads Bits, MaxHeld,
// MaxHeldBlocks and MaxBlockBytes.
func NewBitlog(upstream Allocator, c Config) *BitlogPool {
	c = c.forStrategy("bitlog", upstream)
	bins := Bitlog(c.Bits)
	bin := func(n int) (key, blockSize int) {
		i := bins.Index(n)
		if i < 0 {
			return -1, n // of no bin: too large, and never held
		}
		return i, bins.Size(i)
	}
	return &BitlogPool{newKeeper(upstream, newShelf(c, true), bin)}
}
