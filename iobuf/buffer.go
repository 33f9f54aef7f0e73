package iobuf

import (
	"fmt"
	"io"

	"github.com/bufslab/bufslab/slab"
)

// A Buffer is a bytes.Buffer in memory of a [slab.Pool]: bytes are written to its end and read from
// its front, and it grows as it has to. Its methods do the same as those of bytes.Buffer, but return
// an error where there is no room; then the contents are as before.
//
// The first block has the size that Buffers of the pool typically end with, 512 bytes to 16 MiB, or
// the size that the first Write needs. When the block is full the Buffer takes a further block, of an
// eighth of its size or of the bytes to write, and copies nothing: its contents are then a list of
// segments. [Buffer.Segments], Read and WriteTo go through the segments one by one; Bytes and Detach
// join them. A Buffer takes memory only for bytes that came, and not for bytes that the N of an
// io.LimitedReader or a Len announces.
//
// A Buffer can be kept for reuse, also in a sync.Pool. Reset keeps a single block, unless the block
// has been too large for some rounds. After Release the next Write takes a new block. The blocks of a
// forgotten Buffer come back as buffers do, see [slab.Pool].
//
// Every call that writes, Truncate, Reset, Detach and Release make slices of Bytes and Segments
// stale: the memory may belong to another buffer then. Slices of Segments are also stale after a call
// that reads, as segments that were read go back, and after Bytes, which may join them. So do not
// write a Buffer's own Bytes to it, and do not Put them: they belong to the Buffer.
//
// A Buffer is not safe for concurrent use, and must not be copied. The zero Buffer and a Buffer of a
// nil Pool are empty: calls that need memory fail with an error that wraps slab.ErrClosed. Where
// the CPU cannot reach the pool's memory the error wraps device.ErrUnavailable. Methods of a nil
// Buffer panic.
//
// A Buffer is not for contents of a known size, which [slab.Pool.Get] has room for at once, and not
// for strings that outlive the Buffer: Bytes does not copy a single segment.
type Buffer struct {
	pool   *slab.Pool
	sizes  *typicalSize      // of the Buffers of pool; nil if that is
	full   []segment         // all before the last one, each with bytes that were not read
	before int               // bytes of full, including bytes that were read
	block  slab.PooledBuffer // of the last segment
	data   []byte            // the bytes written to block; with block's capacity
	read   int               // bytes of the first segment that were read
	peak   int               // most bytes since the last Reset, not counting the bytes of now
	low    int               // Resets in a row that found most of the block unused
	parted bool              // it has had more than one segment since the last Reset
}

// none is the handle of no block.
var none slab.PooledBuffer

var (
	_ io.ReadWriter   = (*Buffer)(nil)
	_ io.ByteReader   = (*Buffer)(nil)
	_ io.ByteWriter   = (*Buffer)(nil)
	_ io.StringWriter = (*Buffer)(nil)
	_ io.ReaderFrom   = (*Buffer)(nil)
	_ io.WriterTo     = (*Buffer)(nil)
)

// lowRounds is the number of Resets in a row that find less than a quarter of a block used before the block goes.
const lowRounds = 8

// New returns an empty Buffer that takes its memory from p. It takes none before the first write.
func New(p *slab.Pool) *Buffer {
	b := &Buffer{pool: p}
	if p != nil {
		b.sizes = typicalSizes.Of(p)
	}
	return b
}

// Len returns the number of bytes that were written and not yet read.
func (b *Buffer) Len() int { return b.before + len(b.data) - b.read }

// Cap returns the bytes that the Buffer has room for, including bytes that were read. Its blocks may
// have more: see Detach.
func (b *Buffer) Cap() int { return b.before + cap(b.data) }

// Bytes returns the unread bytes as one slice, whose capacity is its length. It joins several
// segments into one, which is a copy. Where the pool has no room for that, or is closed, the joined
// segment is memory of make, up to the next Reset, Release or Detach. Call Detach to get an error
// instead, and Segments to copy nothing. The slice is stale after the next call that writes, cuts or
// gives away.
func (b *Buffer) Bytes() []byte {
	if len(b.full) > 0 {
		b.joinAnyhow()
	}
	return b.data[b.read:len(b.data):len(b.data)]
}

// Segments returns the unread bytes in order and without a copy, as slices of at least a byte, whose
// capacity is their length. They are stale after the same calls as the slice of Bytes, and after the
// next call that reads or joins.
func (b *Buffer) Segments() [][]byte {
	all, at := make([][]byte, 0, len(b.full)+1), b.read
	for _, s := range b.full {
		all, at = append(all, s.data[at:len(s.data):len(s.data)]), 0
	}
	if at < len(b.data) {
		all = append(all, b.data[at:len(b.data):len(b.data)])
	}
	return all
}

// Grow makes room for n more bytes: to write them then takes no memory. The error wraps
// slab.ErrSize if n is negative or too large to be counted, or is the error of [slab.Pool.Get].
func (b *Buffer) Grow(n int) error {
	if n >= 0 && n <= b.room() {
		return nil
	}
	next, err := b.makeRoom(n, 0)
	if next.data != nil {
		b.push(next)
	}
	return err
}

// Truncate keeps the first n unread bytes. It panics if n is negative or more than Len.
func (b *Buffer) Truncate(n int) {
	if n < 0 || n > b.Len() {
		panic(fmt.Sprintf("iobuf: Truncate of a Buffer of %d bytes to %d", b.Len(), n))
	}
	b.notePeak()
	var gone []segment
	for n < b.Len()-len(b.data) { // the last segment goes
		gone = append(gone, b.pop())
	}
	b.data = b.data[:len(b.data)-(b.Len()-n)]
	b.rewind()
	discardAll(gone, none)
}

// Reset empties the Buffer. It keeps a single block. The block goes if eight Resets in a row have found
// less than a quarter of it used, and the pool's other Buffers are smaller, too.
func (b *Buffer) Reset() {
	switch used := b.used(); {
	case used == 0:
	case len(b.full) > 0 || b.block == none || b.isLow(used):
		b.Release()
	default:
		b.sizes.note(used)
		b.data, b.read, b.peak, b.parted = b.data[:0], 0, 0, false
	}
}

// isLow counts Resets that find little of the block used, and reports whether the block has to go.
func (b *Buffer) isLow(used int) bool {
	if used >= cap(b.data)/4 || cap(b.data) <= b.sizes.size() {
		b.low = 0
		return false
	}
	b.low++
	return b.low == lowRounds
}

// Release empties the Buffer and gives its memory back. Without memory it does nothing. After a later
// Write Release has to be called again.
func (b *Buffer) Release() {
	full, last := b.full, b.block
	after := b.end() // first, as the next calls may panic
	discardAll(full, last)
	after()
}

// Detach hands the contents over as a handle of Len bytes, which the caller releases. It joins
// several segments. A single segment is not copied, so its block is as large as before
// ([slab.PooledBuffer.Cap]), unless 4 GiB or more of it are spare. Afterwards the Buffer is empty and can
// be used again. An error is that of [slab.Pool.Get] or [slab.PooledBuffer.Grow]; then the Buffer still
// has its contents.
func (b *Buffer) Detach() (slab.PooledBuffer, error) {
	if b.Len() == 0 {
		return b.pool.Get(0)
	}
	if len(b.full) > 0 || b.block == none {
		if err := b.join(b.Len()); err != nil {
			return none, err
		}
	}
	b.compact()
	defer b.dropStale()
	block, err := b.block.Grow(len(b.data)) // cuts the view
	if err != nil {
		return none, err
	}
	b.end()()
	return block, nil
}

// dropStale forgets the block if a Grow has panicked after it had released the block.
func (b *Buffer) dropStale() {
	if b.block.Cap() == 0 {
		b.end()
	}
}

// end forgets all memory of the Buffer, and notes the number of bytes. Call after when the blocks have
// gone back: if Buffers begin with a larger block from now on, a pool on the Go heap then gives back
// its many small blocks, as they do not merge.
func (b *Buffer) end() (after func()) {
	used, parted, p := b.used(), b.parted, b.pool
	*b = Buffer{pool: p, sizes: b.sizes}
	if used > 0 && b.sizes.note(used) && parted && b.sizes.onHeap {
		return p.FreeHeld
	}
	return func() {}
}

// used returns the most bytes since the last Reset.
func (b *Buffer) used() int { return max(b.peak, b.before+len(b.data)) }

// notePeak is called before bytes go.
func (b *Buffer) notePeak() { b.peak = b.used() }

// room returns the bytes that can be written to the last segment.
func (b *Buffer) room() int { return cap(b.data) - len(b.data) }
