package slab

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"sync/atomic"
)

// A Buffer is a bytes.Buffer in memory of a [Pool]: bytes are written to its end and read from
// its front, and it grows as it has to. Methods do what those of the same name do there, except
// that they return an error where there is no room, and the contents are then as before.
//
//	b := slab.NewBuffer(pool)
//	defer b.Release()
//	err := json.NewEncoder(b).Encode(v)
//	...
//	_, err = b.WriteTo(conn)
//
// The first block has the size that Buffers of the pool typically end with, 512 bytes to 1 MiB;
// after that it doubles, where it is if it can: see [PooledBuffer.Grow]. Nothing is taken because
// it was announced: neither the N of an io.LimitedReader nor a Len counts, only bytes that came.
//
// A Buffer can be kept for reuse, also in a sync.Pool: Reset keeps the block, unless it has been
// too large for some rounds, and after Release the next Write takes a new one. One that is
// forgotten comes back as its block does, see [Pool].
//
// Every call that writes, Truncate, Reset, Detach and Release make slices of Bytes stale: the
// memory may belong to another buffer then. So do not write a Buffer's own Bytes to it, and do
// not Put them: they are the Buffer's.
//
// A Buffer is not safe for concurrent use, and must not be copied. The zero Buffer and one of a
// nil Pool are empty: what would need memory fails with an error that wraps ErrClosed. Where
// the CPU cannot reach the pool's memory it wraps device.ErrUnavailable. Methods of a nil
// Buffer panic.
//
// It is not for contents of a known size, which [Pool.Get] has room for at once, and not for
// strings that outlive it: Bytes does not copy.
type Buffer struct {
	pool  *Pool
	block PooledBuffer
	data  []byte // what was written; its capacity is that of block
	read  int    // bytes of data that were read
	peak  int    // most bytes of data since the last Reset, but for those that are there now
	low   int    // Resets in a row that found most of the block unused
}

var (
	_ io.ReadWriter   = (*Buffer)(nil)
	_ io.ByteReader   = (*Buffer)(nil)
	_ io.ByteWriter   = (*Buffer)(nil)
	_ io.StringWriter = (*Buffer)(nil)
	_ io.ReaderFrom   = (*Buffer)(nil)
	_ io.WriterTo     = (*Buffer)(nil)
)

// lowRounds is how many Resets in a row find less than a quarter of a block used before it goes.
const lowRounds = 8

// NewBuffer returns an empty Buffer that takes its memory of p. It takes none before it is
// written to.
func NewBuffer(p *Pool) *Buffer { return &Buffer{pool: p} }

// Len returns the number of bytes that were written and not yet read.
func (b *Buffer) Len() int { return len(b.data) - b.read }

// Cap returns the bytes that the Buffer has room for, those that were read included. Its block may
// have more: see Detach.
func (b *Buffer) Cap() int { return cap(b.data) }

// Bytes returns what was written and not yet read, without a copy; the capacity is the length.
// It is stale after the next call that writes, cuts or gives away.
func (b *Buffer) Bytes() []byte { return b.data[b.read:len(b.data):len(b.data)] }

// Grow makes room for n more bytes: to write them takes no memory then. The error wraps ErrSize
// if n is negative or too large to be counted, or is that of [Pool.Get] or [PooledBuffer.Grow].
func (b *Buffer) Grow(n int) error {
	if n >= 0 && n <= cap(b.data)-len(b.data) {
		return nil
	}
	return b.makeRoom(n)
}

// Truncate keeps the first n unread bytes. It panics if n is negative or more than Len.
func (b *Buffer) Truncate(n int) {
	if n < 0 || n > b.Len() {
		panic(fmt.Sprintf("slab: Truncate of a Buffer of %d bytes to %d", b.Len(), n))
	}
	b.peak = max(b.peak, len(b.data))
	b.data = b.data[:b.read+n]
	if n == 0 {
		b.data, b.read = b.data[:0], 0
	}
}

// Reset empties the Buffer and keeps its block, unless eight Resets in a row have found less
// than a quarter of it used, and those of the pool's other Buffers are smaller, too.
func (b *Buffer) Reset() {
	used := b.end()
	switch {
	case used == 0:
	case used >= cap(b.data)/4 || cap(b.data) <= b.pool.pool.typical.size():
		b.low = 0
	default:
		if b.low++; b.low == lowRounds {
			b.Release()
		}
	}
}

// Release empties the Buffer and gives its memory back. It does nothing where there is none. A
// Write afterwards begins anew, and then Release has to be called again.
func (b *Buffer) Release() {
	b.end()
	block := b.block
	b.drop() // first, as Release may panic
	block.discard()
}

// Detach hands the contents over: as a PooledBuffer of Len bytes, which is then the caller's to
// release. It copies nothing, so the block is as large as before ([PooledBuffer.Cap]), unless 4 GiB
// or more of it are spare. The Buffer
// is empty and can be used again. An error is that of [PooledBuffer.Grow]; then the Buffer has
// its contents still.
func (b *Buffer) Detach() (PooledBuffer, error) {
	if b.Len() == 0 {
		return b.pool.Get(0)
	}
	b.compact()
	defer b.dropStale()
	block, err := b.block.Grow(len(b.data)) // cuts the view
	if err != nil {
		return PooledBuffer{}, err
	}
	b.end()
	b.drop()
	return block, nil
}

// end empties the Buffer, tells the pool how many bytes it has had, and returns that.
func (b *Buffer) end() (used int) {
	used = max(b.peak, len(b.data))
	if used > 0 {
		b.pool.pool.typical.note(used)
	}
	b.data, b.read, b.peak = b.data[:0], 0, 0
	return used
}

// drop forgets the block.
func (b *Buffer) drop() { b.block, b.data, b.low = PooledBuffer{}, nil, 0 }

// dropStale forgets the block if a Grow has panicked after it had released that.
func (b *Buffer) dropStale() {
	if s := b.block.slot; s != nil && !s.Owns(b.block.gen) {
		b.end()
		b.drop()
	}
}

// compact moves what was not read to the front of the block.
func (b *Buffer) compact() {
	if b.read > 0 {
		b.peak = max(b.peak, len(b.data))
		b.data, b.read = b.data[:copy(b.data, b.data[b.read:])], 0
	}
}

// makeRoom makes room for n more bytes, where there is none at the end. If they are to fill no
// more than half of the block it moves the contents, so that this does not happen all the time.
// Else the block doubles; if there is no room for that, it grows by what is needed.
func (b *Buffer) makeRoom(n int) error {
	switch {
	case !b.pool.isOpened():
		return errNotOpened
	case n < 0 || n > math.MaxInt-b.Len():
		return fmt.Errorf("slab: Grow of a Buffer of %d bytes by %d: %w", b.Len(), n, ErrSize)
	}
	b.compact()
	have, need := cap(b.data), len(b.data)+n
	if need <= have/2 {
		return nil
	}
	size := max(b.firstSize(), 2*have, need)
	err := b.resize(size)
	switch {
	case !outOfMemory(err) || size == need:
		return err
	case need <= have:
		return nil
	}
	return b.resize(need)
}

// firstSize returns the least size of a first block; later ones have none.
func (b *Buffer) firstSize() int {
	if cap(b.data) > 0 {
		return 0
	}
	return b.pool.pool.typical.size()
}

// resize makes the block longer, or takes the first one.
func (b *Buffer) resize(size int) (err error) {
	defer b.dropStale()
	block := b.block
	if cap(b.data) == 0 {
		block, err = b.pool.getReachable(size)
	} else {
		block, err = block.Grow(size)
	}
	if err == nil {
		block.slot.Hide() // from a Put of Bytes
		b.block, b.data = block, block.Bytes()[:len(b.data)]
	}
	return err
}

// A typicalSize follows the sizes that the Buffers of a pool end with, so that the next one can
// begin with it: a power of two that some four of five do not exceed. A larger one moves it up
// by four steps, a smaller one down by one, and sixteen steps are a doubling. So an outlier
// counts for little, and while all are of one size nothing is written.
type typicalSize struct{ steps atomic.Int32 } // above leastTypical

const (
	leastTypical = 512
	mostDoubled  = 11 // to 1 MiB: above that, to double is cheap beside to fill
	doubling     = 16 // steps
	stepsUp      = 4
)

// size returns the typical size.
func (t *typicalSize) size() int { return leastTypical << (t.steps.Load() / doubling) }

// note notes that a Buffer has had n bytes, at least one. Of two calls at a time one may go
// unheard.
func (t *typicalSize) note(n int) {
	at := t.steps.Load()
	wants := min(int32(bits.Len(uint(n-1)/leastTypical)), mostDoubled)
	switch now := at / doubling; {
	case wants > now:
		t.steps.Store(at + stepsUp)
	case wants < now:
		t.steps.Store(at - 1)
	}
}
