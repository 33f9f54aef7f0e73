package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/sizeclass"
)

// Classes maps sizes to size classes, numbered from 0 in the order of their
// block sizes.
type Classes interface {
	// Index returns the smallest class whose blocks hold size bytes, or -1 if
	// size is negative or too large for any.
	Index(size int) int
	// Size returns the block size of a class, in bytes.
	Size(index int) int
}

var (
	_ Classes = (*sizeclass.Grid)(nil)
	_ Classes = sizeclass.Bitlog(0)
)

// Grid returns classes in which powers of two are exact and each doubling has
// steps classes, evenly spaced, as in jemalloc. All sizes are multiples of
// align, so up to steps*align bytes the classes are simply those multiples.
// A block is larger than asked by less than size/steps or by less than align,
// whichever is more. Sizes above 256 TiB have no class.
//
// Align 0 is 16, and 64 from 64 bytes up, for vector instructions.
// Both arguments are powers of two; Grid panics otherwise.
func Grid(steps, align int) Classes {
	if steps < 1 || steps&(steps-1) != 0 || align < 0 || align&(align-1) != 0 || steps > 1<<10 || align > 1<<20 {
		panic(fmt.Sprintf("slab: Grid of %d steps, alignment %d", steps, align))
	}
	return sizeclass.NewGrid(steps, align)
}

// Bitlog returns the bins of pyopencl's memory pool. The bin of a size is its
// leading one and the next bits; blocks have the largest size of their bin.
// With 4 bits 1000 becomes 1023. A block is less than
// 1/2^bits larger than asked; powers of two are the worst case, and no block
// is aligned. Sizes 0 and 1 share bin 0. Bins are numbered as in pyopencl, with gaps.
// With 0 bits the bins are the powers of two. It panics unless bits is in 0..16.
func Bitlog(bits int) Classes {
	if bits < 0 || bits > 16 {
		panic(fmt.Sprintf("slab: Bitlog of %d bits", bits))
	}
	return sizeclass.Bitlog(bits)
}
