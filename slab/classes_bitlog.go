package slab

import "fmt"

// Bitlog returns the bins of pyopencl's memory pool: a bin is the size's
// leading one and the bits bits below it, and its blocks have the largest size
// that falls into it. With 4 bits 1000 becomes 1023. A block is less than
// 1/2^bits larger than asked; powers of two are the worst case, and no block
// is aligned. Sizes 0 and 1 share bin 0. Bins are numbered as there, with gaps.
// It panics unless bits is in 1..16.
func Bitlog(bits int) Classes {
	if bits < 1 || bits > 16 {
		panic(fmt.Sprintf("slab: Bitlog of %d bits", bits))
	}
	return bitlog(bits)
}

type bitlog int

func (b bitlog) Index(size int) int {
	if size < 0 || uint64(size) > maxClass {
		return -1
	}
	l := bitLen(uint(max(size, 1))) - 1
	return l<<b | int(shifted(uint(size), l-int(b)))&(1<<b-1)
}

func (b bitlog) Size(i int) int {
	l := i >> b
	head := uint(1<<b | i&(1<<b-1))
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
