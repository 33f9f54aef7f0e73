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
type Grid struct {
	unit, shift, small int
	doublings          [65]doubling // by the bits that one less than the size has
}

// A doubling is first<<firstAt | width: the class of a size in it is first + (size-1)>>width.
type doubling uint32

const firstAt = 8

// NewGrid returns a grid of steps classes a doubling, aligned to align bytes,
// both powers of two. Align 0 is 16, and 64 from 64 bytes up.
func NewGrid(steps, align int) *Grid {
	g := &Grid{unit: bits.Len(uint(align)) - 1, shift: bits.Len(uint(steps)) - 1}
	if align == 0 {
		g.unit, g.small = 6, 3
	}
	for n := range g.doublings {
		e := max(0, n-1-g.unit-g.shift)
		first, width := g.small+e<<g.shift, g.unit+e
		if n <= g.unit && g.small > 0 { // up to one unit
			first, width = 0, 4
		}
		g.doublings[n] = doubling(first<<firstAt | width)
	}
	return g
}

// Index returns the smallest class whose blocks hold size bytes, or -1 if size
// is negative or above [Max].
func (g *Grid) Index(size int) int {
	if uint64(size) > Max { // negative sizes too
		return -1
	}
	return g.At(max(size, 1))
}

// At is Index for a size from 1 to [Max], and some number for others. It is short so that it
// can be inlined.
func (g *Grid) At(size int) int {
	less := uint(size - 1)
	d := g.doublings[bits.Len(less|1)]
	return int(d>>firstAt) + int(less>>(d&63))
}

// Size returns the block size of a class in bytes.
func (g *Grid) Size(class int) int {
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
