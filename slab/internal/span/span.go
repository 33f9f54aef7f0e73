// Package span cuts slabs into equal blocks.
package span

import "math/bits"

// A Span is one slab: memory that is cut into equal blocks.
type Span[M any] struct {
	Mem  M   // where its memory is, for its owner
	Size int // of a block, in bytes

	bytes       int
	free        []uint64 // a bit a block
	rounding    []uint16 // of each block that is out: the bytes that its owner did not ask for
	n, nfree    int32
	quarantined int32 // blocks out that will not come back
	hint        int32 // no word of free before it has a bit
	next, prev  int32 // in the list of its class
	class       int32
}

// Empty reports whether all blocks of a span in use are free.
func (s *Span[M]) Empty() bool { return s.n > 0 && s.nfree == s.n }

// newSpan returns a span of n blocks, all of them free.
func newSpan[M any](class, size, bytes int, mem M) Span[M] {
	n := bytes / size
	s := Span[M]{
		Mem: mem, Size: size, bytes: bytes, class: int32(class), n: int32(n), nfree: int32(n),
		free: make([]uint64, (n+63)/64), rounding: make([]uint16, n),
	}
	for k := range s.free {
		s.free[k] = ^uint64(0)
	}
	if n&63 != 0 {
		s.free[len(s.free)-1] = 1<<(n&63) - 1
	}
	return s
}

// pop takes the first free block for size bytes; there is one.
func (s *Span[M]) pop(size int) (off int) {
	for s.free[s.hint] == 0 {
		s.hint++
	}
	w := &s.free[s.hint]
	i := int(s.hint)<<6 + bits.TrailingZeros64(*w)
	*w &= *w - 1
	s.rounding[i] = uint16(s.Size - size)
	s.nfree--
	return i * s.Size
}

// push makes the block at off free.
func (s *Span[M]) push(off int) {
	i := off / s.Size
	s.free[i>>6] |= 1 << (i & 63)
	s.hint = min(s.hint, int32(i>>6))
	s.nfree++
}

// isOut reports whether a block begins at off and is out for size bytes.
func (s *Span[M]) isOut(off, size int) bool {
	i := off / s.Size
	return off >= 0 && off%s.Size == 0 && i < int(s.n) && s.free[i>>6]>>(i&63)&1 == 0 &&
		size == s.Size-int(s.rounding[i])
}
