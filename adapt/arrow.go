package adapt

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// An ArrowAllocator is a memory.Allocator of arrow-go: see [Arrow].
type ArrowAllocator struct {
	pool *slab.Pool
	of   slices
}

// Arrow returns an arrow-go memory.Allocator over p: its slices are cleared, and begin at
// multiples of 64.
//
// Blocks of p have to begin at multiples of 64, too. With every strategy they do, unless the
// configuration has an align below 64. Then Arrow and Allocate panic.
//
// Arrow's IPC reader takes a message of the length that its sender declares before the bytes have
// come: bound the pool (max_bytes) where you do not trust the sender.
//
// memory.Allocator has no errors. Where p has no room, or is closed, Allocate and Reallocate
// panic with p's error, after the wait that [Wait] asks for, as arrow's own allocators do; functions of
// Arrow that return an error recover from that panic.
func Arrow(p *slab.Pool, options ...Option) *ArrowAllocator {
	a := &ArrowAllocator{pool: p}
	a.of.open(p, options)
	if b, err := p.GetBytes(272); err == nil { // the block behind it may be off by 16
		defer a.Free(b)
		a.try(320)
	}
	return a
}

// try checks a block of size bytes, if there is room for it.
func (a *ArrowAllocator) try(size int) {
	if b, err := a.pool.GetBytes(size); err == nil {
		a.check(b)
		a.Free(b)
	}
}

// check panics if b does not begin at a multiple of 64, and puts b back first.
func (a *ArrowAllocator) check(b []byte) {
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); at%64 != 0 {
		a.Free(b)
		panic(fmt.Sprintf("adapt: a block of %d bytes begins at %#x: Arrow needs a pool with align=64", cap(b), at))
	}
}

// Allocate returns size bytes, all 0, whose capacity is size. Size 0 takes no memory of the
// pool. A negative size panics.
func (a *ArrowAllocator) Allocate(size int) []byte {
	if size <= 0 {
		return make([]byte, size)
	}
	b, err := a.of.ask(rounded(size))
	if err != nil {
		panic(err)
	}
	a.check(b)
	clear(b)
	return b[:size:size]
}

// rounded is the size to ask for: in slabs of such blocks each begins at a multiple of 64.
func rounded(size int) int { return (size + 63) &^ 63 }

// Reallocate returns size bytes that begin with the bytes of b; the others are 0. Within the
// capacity of b the memory stays where it is, also when b shrinks. Otherwise
// [slab.PooledBuffer.Grow] decides whether the memory moves. Do not use b afterwards. If b is no
// active buffer of the pool, Reallocate copies it, and refuses it as Free does.
func (a *ArrowAllocator) Reallocate(size int, b []byte) []byte {
	m := a.resize(size, b)
	if size > len(b) {
		clear(m[len(b):])
	}
	return m
}

// resize is Reallocate without clearing.
func (a *ArrowAllocator) resize(size int, b []byte) []byte {
	if 0 <= size && size <= cap(b) {
		return b[:size]
	}
	h, ok := a.pool.Lookup(b)
	if !ok || size < 0 {
		if size >= 0 {
			a.Free(b) // is refused, with a panic in a strict pool; b stays whose it is
		}
		m := a.Allocate(size)
		copy(m, b)
		return m
	}
	grown, err := h.Grow(rounded(size))
	switch {
	case err == nil:
	case a.of.patience > 0 && errors.Is(err, device.ErrOutOfMemory): // Grow does not wait
		m := a.Allocate(size)
		copy(m, b)
		a.Free(b)
		return m
	default:
		panic(err)
	}
	m := grown.Bytes()
	a.check(m)
	return m[:size:size]
}

// Free gives back a slice of Allocate or Reallocate. It finds the buffer by the beginning of b,
// whatever its length. A slice without capacity has nothing to give back. Do not use b
// afterwards.
func (a *ArrowAllocator) Free(b []byte) {
	if cap(b) > 0 {
		_ = a.pool.Put(b) // a refusal is counted
	}
}
