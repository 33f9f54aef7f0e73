package growpool

import (
	"math/bits"
	"slices"
)

// maxInt is also the largest size of a buffer in bytes.
const maxInt = int(^uint(0) >> 1)

// dims is a shape, small enough to travel in registers with a View. For two dimensions it
// has the number of elements and the last dimension. For more, and for shapes without
// elements, it has a slice that never changes.
type dims struct {
	n    int // elements
	last int // of two dimensions, else 0
	more *[]int
}

// vector is the shape of one dimension, which the caller has checked.
func vector(n int) dims { return dims{n: n} }

// dimsOf checks a shape for elements of size bytes. The caller sets the slice.
func dimsOf(shape []int, size uintptr) (d dims, ok bool) {
	if len(shape) == 0 {
		return d, false
	}
	most := maxInt / int(size)
	d.n = 1
	for _, k := range shape {
		if k < 1 || k > most {
			return dims{}, isEmpty(shape)
		}
		most /= k
		d.n *= k
	}
	if len(shape) == 2 {
		d.last = shape[1]
	}
	return d, true
}

// isEmpty reports whether a shape has no elements: one dimension is 0, however large the others are.
func isEmpty(shape []int) bool { return slices.Min(shape) == 0 }

// shape returns a copy of the shape, nil for the zero dims.
func (d dims) shape() []int {
	switch {
	case d.more != nil:
		return slices.Clone(*d.more)
	case d.last != 0:
		return []int{d.n / d.last, d.last}
	case d.n != 0:
		return []int{d.n}
	}
	return nil
}

// rank returns the number of dimensions.
func (d dims) rank() int {
	switch {
	case d.more != nil:
		return len(*d.more)
	case d.last != 0:
		return 2
	case d.n != 0:
		return 1
	}
	return 0
}

// dim returns a dimension below rank.
func (d dims) dim(k int) int {
	switch {
	case d.more != nil:
		return (*d.more)[k]
	case k == 1:
		return d.last
	case d.last != 0:
		return d.n / d.last
	}
	return d.n
}

// span returns the elements that have the leading indices i: where they
// begin and how many they are. It reports false unless they are in range.
func (d dims) span(i []int) (at, n int, ok bool) {
	if len(i) > d.rank() {
		return 0, 0, false
	}
	n = d.n
	for k, x := range i {
		size := d.dim(k)
		if uint(x) >= uint(size) {
			return 0, 0, false
		}
		n /= size
		at += x * n
	}
	return at, n, true
}

// cell is span of two indices in two dimensions, without a division.
func (d dims) cell(i, j int) (at int, ok bool) {
	hi, row := bits.Mul(uint(i), uint(d.last))
	return int(row) + j, uint(j) < uint(d.last) && hi == 0 && row < uint(d.n)
}
