package arena

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/shape"
	"github.com/bufslab/bufslab/slab"
)

// An Arena hands out many small pieces of memory that are freed at once: it cuts them from
// chunks of a [slab.Pool], from the end down. A Get takes from a count, and nothing has to be
// released piece by piece.
//
// The first chunk has 8 KiB, each further one twice as much, to 1 MiB. Reset keeps one chunk,
// of the size that recent rounds needed. A Get of more than half the next chunk has a buffer of
// its own. Where the pool has no room for a chunk the Arena tries smaller ones, down to 8 KiB.
//
// An Arena is not safe for concurrent use, and must not be copied. If you keep Arenas in a sync.Pool,
// Put each once, after Reset or Release: an Arena that was Put twice has two owners. The zero Arena, a nil Arena
// and an Arena of a nil Pool have no memory: each Get fails with an error that wraps slab.ErrClosed.
// The chunks of a forgotten Arena come back as buffers do, see [slab.Pool]. On the Go heap its
// slices keep their memory. Elsewhere they do not: keep the Arena.
//
// An Arena is not for pieces that live longer than others: while one piece is in use you cannot
// call Reset. Pieces are no buffers of the pool: never Put one. [slab.Config].Check sees chunks, not
// the pieces in them: it finds a write to a piece after Reset, but not a write beyond its end.
type Arena struct {
	pool  *slab.Pool
	chunk []byte // pieces are cut from its end; a power of two, or nothing
	left  int    // bytes of it that are not cut yet, a multiple of pieceAlign

	block slab.PooledBuffer   // of chunk
	full  []slab.PooledBuffer // chunks without room, and large pieces
	used  int                 // bytes of this round in full, without very large pieces
	need  int                 // bytes that recent rounds used, mostChunk at most

	rules   *rules       // of the pool, once Reset has asked
	element reflect.Type // that Make has accepted last: to ask anew takes as long as all the rest
}

const (
	pieceAlign = 16
	leastChunk = 8 << 10
	mostChunk  = 1 << 20
	// hugePiece is the largest piece that a chunk is ever sized for.
	hugePiece = mostChunk / 2
	// mostBytes is more than any memory has that the CPU can reach.
	mostBytes = min(1<<47, math.MaxInt)
)

// errNoPool is the error of Get in an Arena without a Pool.
var errNoPool = fmt.Errorf("arena: an Arena without a Pool: %w", slab.ErrClosed)

// New returns an Arena that takes its chunks from p. It takes none before the first Get.
func New(p *slab.Pool) *Arena { return &Arena{pool: p} }

// Get returns n bytes, aligned to 16 or to a lower Config.Align, with undefined contents,
// cleared with Config.Zero; the capacity is n. Do not use the bytes after Reset or Release.
// The error is that of [slab.Pool.Get]: no room means no room for 8 KiB, or for the n bytes alone
// if they are more than 4 KiB. Where the CPU cannot reach the pool's memory it wraps
// device.ErrUnavailable. After an error earlier pieces are as before. After Close of the pool Get
// still succeeds for 0 bytes, which take no memory, and for pieces that fit into the rest of a chunk.
func (a *Arena) Get(n int) ([]byte, error) {
	if a != nil && uint(n-1) < uint(a.left) {
		a.left -= roundPiece(n)
		// Two slice expressions would check the known bounds again, in a third of all instructions.
		p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.chunk)), a.left)
		return (*[mostBytes]byte)(p)[:n:n], nil
	}
	return a.getSlow(n)
}

// roundPiece returns the bytes that a piece of n bytes takes.
func roundPiece(n int) int { return (n + pieceAlign - 1) &^ (pieceAlign - 1) }

// Make returns n values of type T of an Arena, cleared, as make does: the memory may have values
// of other types from before Reset. The capacity is n. Its errors are those of [Arena.Get] and
// [slab.Make]. Like Get it is not safe for concurrent use.
func Make[T any](a *Arena, n int) ([]T, error) {
	if a == nil {
		return nil, errNoPool
	}
	t := reflect.TypeFor[T]()
	if t != a.element {
		if why := shape.Unfit(t); why != "" {
			return nil, fmt.Errorf("arena: type %v %s: %w", t, why, slab.ErrElement)
		}
		a.element = t
	}
	size, ok := shape.Bytes[T](n)
	if !ok {
		return nil, fmt.Errorf("arena: %d values of type %v: %w", n, t, slab.ErrSize)
	}
	m, err := a.Get(size)
	if err != nil {
		return nil, err
	}
	clear(m)
	return shape.Elements[T](m), nil
}

// getSlow is Get of a piece that the chunk has no room for. A piece of more than half of the
// next chunk has a buffer of its own, and the chunk stays.
func (a *Arena) getSlow(n int) ([]byte, error) {
	switch {
	case a == nil || a.pool == nil:
		return nil, errNoPool
	case n == 0:
		return []byte{}, nil
	}
	if size := a.chunkSize(); n > 0 && n <= size/2 {
		err := a.change(size, n)
		if err == nil {
			return a.Get(n)
		}
		if n <= leastChunk/2 { // a buffer for each such piece would take a search of the whole pool
			return nil, err
		}
	}
	b, m, err := a.take(n)
	if err != nil {
		return nil, err
	}
	a.full = append(a.full, b)
	if n <= hugePiece {
		a.used += roundPiece(n)
	}
	return m, nil
}

// chunkSize returns the size of the next chunk: the need of recent rounds, or twice the last
// chunk.
func (a *Arena) chunkSize() int {
	size := max(leastChunk, 2*len(a.chunk))
	for size < a.need {
		size *= 2
	}
	return min(size, mostChunk)
}

// change takes another chunk, of which a piece of n bytes is at most half. Where there is no room it halves the
// size, down to 8 KiB. After an error the old chunk stays.
func (a *Arena) change(size, n int) error {
	b, m, err := a.take(size)
	for size /= 2; errors.Is(err, device.ErrOutOfMemory) && size >= max(leastChunk, 2*n); size /= 2 {
		b, m, err = a.take(size)
	}
	if err != nil {
		return err
	}
	if len(a.chunk) > 0 {
		a.full = append(a.full, a.block)
		a.used += len(a.chunk) - a.left
	}
	a.block, a.chunk, a.left = b, m, len(m)
	return nil
}

// Reset frees all pieces since the last Reset. It keeps a chunk for the next round if the chunk
// is at least as large as recent rounds needed, or 1 MiB, and not more than four times as large.
// With each round a quarter of an earlier need is forgotten: the chunk of an outlier goes back to
// the pool after five rounds. With [slab.Config].Check Reset keeps nothing.
func (a *Arena) Reset() {
	if a == nil || len(a.chunk)+len(a.full) == 0 {
		return
	}
	a.need = min(max(a.used+len(a.chunk)-a.left, a.need-a.need/4), mostChunk)
	a.releaseFull()
	if a.rules == nil {
		a.rules = rulesOf.Of(a.pool)
	}
	if n := len(a.chunk); a.rules.check || n < a.need || n > max(leastChunk, 4*a.need) {
		a.releaseChunk()
		return
	}
	if a.rules.zero {
		clear(a.chunk[a.left:])
	}
	a.left = len(a.chunk)
}

// Release frees all pieces and gives all memory back to the pool. The Arena can be used again,
// and then has to be released again. Without a Get in between Release does nothing.
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
		a.full[i] = slab.PooledBuffer{} // first, as Release may panic
		_ = b.Release()
	}
	a.full, a.used = a.full[:0], 0
}

func (a *Arena) releaseChunk() {
	b := a.block
	a.block, a.chunk, a.left = slab.PooledBuffer{}, nil, 0 // first, as Release may panic
	_ = b.Release()                                        // or there is none
}

// take gets memory that only the Arena gives back.
func (a *Arena) take(n int) (slab.PooledBuffer, []byte, error) {
	b, err := a.pool.Get(n)
	if err != nil {
		return b, nil, err
	}
	m := b.Bytes()
	if m == nil {
		err = fmt.Errorf("arena: the CPU does not reach the pool's memory: %w", device.ErrUnavailable)
		return slab.PooledBuffer{}, nil, errors.Join(err, b.Release())
	}
	b.Hide()
	return b, m, nil
}
