package slab

import (
	"fmt"
	"math/bits"
)

// Grid returns classes in which powers of two are exact and each doubling has
// steps classes, evenly spaced, as in jemalloc. All sizes are multiples of
// align, so up to steps*align bytes the classes are simply those multiples.
// A block is larger than asked by less than size/steps or by less than align,
// whichever is more. Sizes above 256 TiB have no class.
//
// Align 0 is 16, and 64 from 64 bytes up: what vector instructions like.
// Both arguments are powers of two; Grid panics otherwise.
func Grid(steps, align int) Classes {
	if steps < 1 || steps&(steps-1) != 0 || align < 0 || align&(align-1) != 0 || steps > 1<<10 || align > 1<<20 {
		panic(fmt.Sprintf("slab: Grid of %d steps, alignment %d", steps, align))
	}
	return newGrid(steps, align)
}

// A grid counts in units of 1<<unit bytes, with 1<<shift classes a doubling:
// class i, of n units, is n-1 up to 2<<shift; from there on each power of two
// of units begins 1<<shift classes. With small it has classes of 16, 32 and 48
// bytes before those.
type grid struct{ unit, shift, small int }

func newGrid(steps, align int) grid {
	g := grid{unit: bitLen(uint(align)) - 1, shift: bitLen(uint(steps)) - 1}
	if align == 0 {
		g.unit, g.small = 6, 3
	}
	return g
}

func (g grid) Index(size int) int {
	if uint64(size) > maxClass { // negative ones too
		return -1
	}
	return g.index(max(size, 1))
}

// index is Index of a size from 1 to maxClass, short enough to be inlined.
func (g grid) index(size int) int {
	if size <= g.small<<4 {
		return (size - 1) >> 4
	}
	u := uint(size-1) >> (g.unit & 63) // one less than the units
	e := bits.Len(u>>(g.shift&63)|1) - 1
	return g.small + e<<(g.shift&63) + int(u>>(e&63))
}

func (g grid) Size(i int) int {
	if i < g.small {
		return (i + 1) << 4
	}
	i -= g.small
	steps := 1 << g.shift
	if i < 2*steps {
		return (i + 1) << g.unit
	}
	e := i>>g.shift - 1
	return (i&(steps-1) + steps + 1) << (e + g.unit)
}
