package slab

import "fmt"

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
	if align > 0 {
		return grid{unit: bitLen(uint(align)) - 1, shift: bitLen(uint(steps)) - 1}
	}
	return mixed{grid{unit: 6, shift: bitLen(uint(steps)) - 1}}
}

// A grid counts in units of 1<<unit bytes, with 1<<shift classes a doubling.
// Class i, of n units, is n-1 up to 2<<shift; from there on each power of two
// of units begins 1<<shift classes.
type grid struct{ unit, shift int }

func (g grid) Index(size int) int {
	if size < 0 || uint64(size) > maxClass {
		return -1
	}
	u := uint(max(size, 1)-1) >> g.unit // one less than the units
	e := bitLen(u>>g.shift) - 1
	if e <= 0 {
		return int(u)
	}
	return e<<g.shift + int(u>>e)
}

func (g grid) Size(i int) int {
	steps := 1 << g.shift
	if i < 2*steps {
		return (i + 1) << g.unit
	}
	e := i>>g.shift - 1
	return (i&(steps-1) + steps + 1) << (e + g.unit)
}

// A mixed grid has classes 16, 32, 48 before its 64.
type mixed struct{ grid }

func (s mixed) Index(size int) int {
	if 0 <= size && size <= 48 {
		return max(size-1, 0) >> 4
	}
	i := s.grid.Index(size)
	if i >= 0 {
		i += 3
	}
	return i
}

func (s mixed) Size(i int) int {
	if i < 3 {
		return (i + 1) << 4
	}
	return s.grid.Size(i - 3)
}
