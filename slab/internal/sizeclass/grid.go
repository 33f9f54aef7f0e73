// Package sizeclass maps sizes to size classes and back: [Grid] and [Bitlog].
package sizeclass

import "math/bits"

const maxInt = int(^uint(0) >> 1)

// Max is the largest size that has a class: 256 TiB, or what an int holds.
const Max = min(1<<48, uint64(maxInt)>>1+1)

// A Grid has the powers of two as exact classes and a fixed number of evenly
// spaced classes from one to the next, as in jemalloc. All class sizes are
// multiples of an alignment.
//
// It counts in units of 1<<unit bytes, with 1<<shift classes a doubling: class
// i, of n units, is n-1 up to 2<<shift; from there on each power of two of
// units begins 1<<shift classes. With small it has classes of 16, 32 and 48
// bytes before those.
type Grid struct{ unit, shift, small int }

// NewGrid returns a grid of steps classes a doubling, aligned to align bytes,
// both powers of two. Align 0 is 16, and 64 from 64 bytes up.
func NewGrid(steps, align int) Grid {
	g := Grid{unit: bits.Len(uint(align)) - 1, shift: bits.Len(uint(steps)) - 1}
	if align == 0 {
		g.unit, g.small = 6, 3
	}
	return g
}

// Index returns the smallest class whose blocks hold size bytes, or -1 if size
// is negative or above [Max].
func (g Grid) Index(size int) int {
	if uint64(size) > Max { // negative sizes too
		return -1
	}
	return g.At(max(size, 1))
}

// At is Index for a size from 1 to [Max]. It is short so that it can be inlined.
func (g Grid) At(size int) int {
	if size <= g.small<<4 {
		return (size - 1) >> 4
	}
	u := uint(size-1) >> (g.unit & 63) // one less than the units
	e := bits.Len(u>>(g.shift&63)|1) - 1
	return g.small + e<<(g.shift&63) + int(u>>(e&63))
}

// Size returns the block size of a class in bytes.
func (g Grid) Size(class int) int {
	if class < g.small {
		return (class + 1) << 4
	}
	class -= g.small
	steps := 1 << g.shift
	if class < 2*steps {
		return (class + 1) << g.unit
	}
	e := class>>g.shift - 1
	return (class&(steps-1) + steps + 1) << (e + g.unit)
}
