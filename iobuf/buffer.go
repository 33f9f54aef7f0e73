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
// What a Buffer holds follows from the bytes that came, and from nothing else: not from the messages of
// others, and not from a length that the N of an io.LimitedReader or a Len announces. Before a byte has
// come ReadFrom takes 512 bytes. When they are full the Buffer moves to a block of 4 KiB. From there on
// it takes a further block when the last one is full, and copies nothing: its contents are then a list of
// segments. A segment has 4 KiB, from 16 KiB on what is left to 64 KiB, then 40 KiB, from 320 KiB on some
// eighth of what came, or what a Write needs. So a Buffer holds at most 4 KiB until 4 KiB have
// come, at most 64 KiB until 32 KiB have come, and then at most twice what has come. [Buffer.Segments],
// Read and WriteTo go through the segments one by one; Bytes and Detach join them.
//
// Where the pool has no room for a segment the Buffer tries smaller ones, each half as large, down to a
// sixteenth or to what a Write needs, and then fails. So the last bytes of a budget do not become many
// small blocks. What came before the error can be read.
//
// A Buffer can be kept for reuse, also in a sync.Pool: Reset keeps a block of up to 4 KiB. Put it once: a
// Buffer that was Put twice has two owners. After Release the next Write takes a new block. The blocks of
// a forgotten Buffer come back as buffers do, see [slab.Pool].
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
	full   []segment         // all before the last one, each with bytes that were not read
	before int               // bytes of full, including bytes that were read
	block  slab.PooledBuffer // of the last segment
	data   []byte            // the bytes written to block; with block's capacity
	read   int               // bytes of the first segment that were read
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

// New returns an empty Buffer that takes its memory from p. It takes none before the first write.
func New(p *slab.Pool) *Buffer { return &Buffer{pool: p} }

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

// Grow makes room for n more bytes: to write them then takes no memory. It takes the memory at once, so it
// is not for a length that a peer declares: ReadFrom needs none. The error wraps slab.ErrSize if n is negative
// or too large to be counted, or is the error of [slab.Pool.Get]. It is that error also where only less than a
// sixteenth of the next segment is free.
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

// AvailableBuffer returns an empty slice whose capacity is the room at the end: append to it, and Write the result. As
// long as it fits, that copies nothing. Grow makes room before. The slice is stale after the next call that writes,
// cuts or gives away. It takes no memory.
func (b *Buffer) AvailableBuffer() []byte { return b.data[len(b.data):] }

// Truncate keeps the first n unread bytes. It panics if n is negative or more than Len.
func (b *Buffer) Truncate(n int) {
	if n < 0 || n > b.Len() {
		panic(fmt.Sprintf("iobuf: Truncate of a Buffer of %d bytes to %d", b.Len(), n))
	}
	var gone []segment
	for n < b.Len()-len(b.data) { // the last segment goes
		gone = append(gone, b.pop())
	}
	b.data = b.data[:len(b.data)-(b.Len()-n)]
	b.rewind()
	discardAll(gone, none)
}

// Reset empties the Buffer. It keeps a single block of up to 4 KiB for the next round. Other memory goes back:
// the next bytes may be those of another peer, which may be silent.
func (b *Buffer) Reset() {
	if len(b.full) > 0 || b.block == none || cap(b.data) > pageStep {
		b.Release()
		return
	}
	b.data, b.read = b.data[:0], 0
}

// Release empties the Buffer and gives its memory back. Without memory it does nothing. After a later
// Write Release has to be called again.
func (b *Buffer) Release() {
	full, last := b.full, b.block
	b.end() // first, as the next call may panic
	discardAll(full, last)
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
	b.end()
	return block, nil
}

// dropStale forgets the block if a Grow has panicked after it had released the block.
func (b *Buffer) dropStale() {
	if b.block.Cap() == 0 {
		b.end()
	}
}

// end forgets all memory of the Buffer. The list of segments keeps its room, and the caller clears it.
func (b *Buffer) end() { *b = Buffer{pool: b.pool, full: b.full[:0]} }

// room returns the bytes that can be written to the last segment.
func (b *Buffer) room() int { return cap(b.data) - len(b.data) }
