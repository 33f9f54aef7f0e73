package slab

import (
	"fmt"
)

// Handles that share a block. Each is a part of the buffer that was got, the root, and has
// a slot of its own (slab/internal/handle/part.go), so that it is released on its own. It
// pins the root as a call of With does, and for longer.

// Share returns a second handle to the memory of b, to be released on its own, in any order
// and from any goroutine: the memory goes back with the last handle. It is Slice of the
// whole buffer, where more is said.
func (b PooledBuffer) Share() (PooledBuffer, error) { return b.part(0, b.n) }

// Slice returns the bytes i to j of b as a buffer of its own, a part, which stays valid
// after b is released. The memory goes back when b and all its parts have been released, in
// any order and from any goroutine. A part of a part is a part of the same buffer. Parts
// share bytes where they overlap; an empty part has none, and holds the memory, too.
//
// A part does all that a buffer does. Its Cap is its length, and its Grow always copies, as
// does that of b while b has parts: the other handles keep what they have. UsedOn of any
// handle holds the memory back after the last Release. Stats counts the memory, not the
// handles: a block is active until its last handle is released, and recordings see one
// allocation and one free. [Pool.Lookup] and [Pool.Put] know the buffer, and no part. A part
// that is forgotten is found as a buffer is, see [Pool]: where Bytes was called on it off the
// heap, the memory goes into quarantine when the other handles are gone.
//
// The error wraps ErrSize unless 0 <= i <= j <= Len, ErrReleased for a stale b, which does
// not count in Stats.DoubleReleases, and ErrParts where the memory has 32,768 parts, less
// one for each call of With that runs. Each
// part takes an object of the Go heap, which serves later parts once it has been released, and no memory of the pool,
// so Slice works after Close.
func (b PooledBuffer) Slice(i, j int) (PooledBuffer, error) {
	if i < 0 || i > j || j > b.n {
		return PooledBuffer{}, fmt.Errorf("slab: Slice of bytes %d to %d of %d: %w", i, j, b.n, ErrSize)
	}
	return b.part(i, j-i)
}

// part returns n bytes of b at i.
func (b PooledBuffer) part(i, n int) (c PooledBuffer, err error) {
	if b.slot == nil || !b.slot.Pin(b.gen) {
		return c, ErrReleased
	}
	defer b.unpin()
	e, ok := b.slot.Part(b.ptr, i, n)
	if !ok {
		return c, ErrParts
	}
	c = lend(e, n)
	poolOf(b.slot).leaks.Part(b.slot.Root(), c.slot, n)
	return c, nil
}
