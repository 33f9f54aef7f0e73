package sizeclass

import "math/bits"

// A Bitlog is the number of bits below the leading one that tell the bins of
// pyopencl's memory pool apart.
type Bitlog int

// Index returns the bin of size bytes, or -1 if size is negative or above [Max].
func (b Bitlog) Index(size int) int {
	if size < 0 || uint64(size) > Max {
		return -1
	}
	l := bits.Len(uint(max(size, 1))) - 1
	return l<<b | int(shifted(uint(size), l-int(b)))&(1<<b-1)
}

// Size returns the largest size that falls into a bin.
func (b Bitlog) Size(bin int) int {
	l := bin >> b
	head := uint(1<<b | bin&(1<<b-1))
	down := l - int(b)
	if down <= 0 {
		return int(head >> -down)
	}
	return int(head<<down | (1<<down - 1))
}

// shifted shifts n right by k bits, or left by -k.
func shifted(n uint, k int) uint {
	if k < 0 {
		return n << -k
	}
	return n >> k
}
