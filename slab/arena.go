package slab

import (
	"reflect"
	"unsafe"
)

// An Arena hands out many small pieces of memory that are freed at once: it cuts them from
// chunks of a [Pool], from the end down. A Get takes from a count, and nothing has to be
// released piece by piece.
//
//	a := slab.NewArena(pool)
//	defer a.Release()
//	for request := range requests {
//		key, err := a.Get(40)
//		...
//		a.Reset() // all that was got in this round is free
//	}
//
// The first chunk has 8 KiB, each further one twice as much, to 1 MiB. Reset keeps one chunk,
// of the size that recent rounds needed. A Get of more than half the next chunk has a buffer of
// its own.
//
// An Arena is not safe for concurrent use, and must not be copied. The zero Arena, a nil one
// and one of a nil Pool have no memory: each Get fails with an error that wraps ErrClosed.
// One that is forgotten comes back as its chunks do, see [Pool]. On the Go heap its slices
// keep their memory; elsewhere they do not: keep the Arena.
//
// It is not for pieces that live longer than others: one that is in use keeps all from being
// Reset. Pieces are no buffers of the pool: never Put one. Config.Check sees chunks, not the
// pieces in them: it finds who writes to a piece after Reset, but not who writes beyond its end.
type Arena struct {
	pool  *Pool
	chunk []byte // pieces are cut from its end; a power of two, or nothing
	left  int    // bytes of it that are not cut yet, a multiple of pieceAlign

	block PooledBuffer   // of chunk
	full  []PooledBuffer // that have no room any more, and large pieces
	used  int            // bytes of this round in full, but for very large pieces
	need  int            // bytes that recent rounds used, mostChunk at most

	element reflect.Type // that MakeIn has found good last: to ask anew takes as long as all the rest
}

const (
	pieceAlign = 16
	leastChunk = 8 << 10
	mostChunk  = 1 << 20
	// hugePiece is the largest that a chunk is ever sized for.
	hugePiece = mostChunk / 2
)

// NewArena returns an Arena that takes its chunks of p. It takes none before the first Get.
func NewArena(p *Pool) *Arena { return &Arena{pool: p} }

// Get returns n bytes, aligned to 16 or to a lower Config.Align, with undefined contents,
// cleared with Config.Zero; the capacity is n. They are free after Reset or Release: do not
// use them any more then. The error is that of [Pool.Get]: no room means that there is none
// for the n bytes alone. Where the CPU cannot reach the pool's memory it wraps
// device.ErrUnavailable. Pieces that were got before stay as they are. Get of 0 bytes takes
// no memory, and after Close of the pool the rest of a chunk is cut up: neither fails.
func (a *Arena) Get(n int) ([]byte, error) {
	if a != nil && uint(n-1) < uint(a.left) {
		a.left -= roundPiece(n)
		// To slice the chunk twice would ask again, in a third of all instructions, what is known.
		p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.chunk)), a.left)
		return (*[mostBytes]byte)(p)[:n:n], nil
	}
	return a.getSlow(n)
}

// roundPiece returns the bytes that a piece of n bytes takes.
func roundPiece(n int) int { return (n + pieceAlign - 1) &^ (pieceAlign - 1) }

// MakeIn returns n values of type T of an Arena, cleared, as make does: what Reset left
// there is of other types. The capacity is n. Its errors are those of [Make].
func MakeIn[T any](a *Arena, n int) ([]T, error) {
	if a == nil {
		return nil, errNotOpened
	}
	t := reflect.TypeFor[T]()
	if t != a.element {
		if err := checkElement(t); err != nil {
			return nil, err
		}
		a.element = t
	}
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, err
	}
	m, err := a.Get(size)
	if err != nil {
		return nil, err
	}
	clear(m)
	return elements[T](m), nil
}

// getSlow is Get of a piece that the chunk has no room for. A piece of more than half of the
// next chunk has a buffer of its own, and the chunk stays.
func (a *Arena) getSlow(n int) ([]byte, error) {
	switch {
	case a == nil || a.pool == nil:
		return nil, errNotOpened
	case n == 0:
		return []byte{}, nil
	}
	if size := a.chunkSize(); n > 0 && n <= size/2 && a.change(size) {
		return a.Get(n)
	}
	b, err := a.pool.getHidden(n)
	if err != nil {
		return nil, err
	}
	a.full = append(a.full, b)
	if n <= hugePiece {
		a.used += roundPiece(n)
	}
	return b.Bytes(), nil
}

// chunkSize returns the size of the next chunk: what recent rounds needed, or twice the
// last one.
func (a *Arena) chunkSize() int {
	size := max(leastChunk, 2*len(a.chunk))
	for size < a.need {
		size *= 2
	}
	return min(size, mostChunk)
}

// change takes another chunk. If there is no room for one the old one stays.
func (a *Arena) change(size int) bool {
	b, err := a.pool.getHidden(size)
	if err != nil {
		return false
	}
	if len(a.chunk) > 0 {
		a.full = append(a.full, a.block)
		a.used += len(a.chunk) - a.left
	}
	a.block, a.chunk = b, b.Bytes()
	a.left = len(a.chunk)
	return true
}

// Reset frees all that was got since the last one. It keeps a chunk for the next round if
// it is as large as recent rounds needed, or 1 MiB, and not more than four times as large.
// With each round it forgets a quarter of what one before it needed: the chunk of an outlier
// goes back to the pool after five. With Config.Check it keeps nothing.
func (a *Arena) Reset() {
	if a == nil || len(a.chunk)+len(a.full) == 0 {
		return
	}
	a.need = min(max(a.used+len(a.chunk)-a.left, a.need-a.need/4), mostChunk)
	a.releaseFull()
	c := &a.pool.pool.config
	if n := len(a.chunk); c.Check || n < a.need || n > max(leastChunk, 4*a.need) {
		a.releaseChunk()
		return
	}
	if c.Zero {
		clear(a.chunk[a.left:])
	}
	a.left = len(a.chunk)
}

// Release frees all that was got and gives all memory back to the pool. The Arena can be
// used again, and again has to be released; without a Get in between Release does nothing.
func (a *Arena) Release() {
	if a == nil {
		return
	}
	a.need = 0
	a.releaseFull()
	a.releaseChunk()
}

func (a *Arena) releaseFull() {
	for i, b := range a.full {
		a.full[i] = PooledBuffer{} // first, as Release may panic
		b.discard()
	}
	a.full, a.used = a.full[:0], 0
}

func (a *Arena) releaseChunk() {
	b := a.block
	a.block, a.chunk, a.left = PooledBuffer{}, nil, 0 // first, as Release may panic
	b.discard()
}

// getHidden is Get of memory that only the Arena gives back.
func (p *Pool) getHidden(n int) (PooledBuffer, error) {
	b, err := p.getReachable(n)
	if err == nil {
		b.slot.Hide()
	}
	return b, err
}
