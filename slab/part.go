package slab

import (
	"fmt"
)

// Handles that share a block. Each handle is a part of the buffer that Get returned, the root,
// and has a slot of its own (slab/internal/handle/part.go), so that it is released on its own.
// A part pins the root as a call of With does, and for longer.

// Share returns a second handle to the memory of b, to be released on its own, in any order
// and from any goroutine: the memory goes back with the last handle. Share is Slice of the
// whole buffer: see [PooledBuffer.Slice].
func (b PooledBuffer) Share() (PooledBuffer, error) { return b.part(0, b.n) }

// Slice returns the bytes i to j of b as a buffer of its own, a part, which stays valid
// after b is released. The memory goes back when b and all its parts have been released, in
// any order and from any goroutine. A part of a part is a part of the same buffer. Parts
// share bytes where they overlap. An empty part has no bytes, and still holds the memory.
//
// A part has all methods of a buffer. Its Cap is its length. Its Grow always copies, and so
// does Grow of b while b has parts: the other handles keep their bytes. UsedOn of any handle
// holds the memory back after the last Release. Stats counts the memory, not the handles: a
// block is active until its last handle is released, and recordings see one allocation and one
// free. [Pool.Lookup] and [Pool.Put] know the buffer, and no part. A forgotten part is found as
// a forgotten buffer is, see [Pool]. If Bytes was called on it off the heap, the memory goes
// into quarantine when the other handles are gone.
//
// The error wraps ErrSize unless 0 <= i <= j <= Len, ErrReleased for a stale b, which does not
// count in Stats.DoubleReleases, and ErrParts where the memory has 32,768 parts, less one for
// each call of With that runs. A part takes an object of the Go heap, which serves later parts
// after its Release. It takes no memory of the pool, so Slice works after Close.
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
	return b.pinnedPart(i, n)
}

// pinnedPart is part of a buffer that the caller has pinned, and that it unpins: a second pin would count as a part.
func (b PooledBuffer) pinnedPart(i, n int) (c PooledBuffer, err error) {
	defer b.unpin()
	e, ok := b.slot.Part(b.ptr, i, n)
	if !ok {
		return c, ErrParts
	}
	c = lend(e, n)
	poolOf(b.slot).leaks.Part(b.slot.Root(), c.slot, n)
	return c, nil
}
