package iobuf

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// The segments of a Buffer: how large they are, how they come and go.

// A segment is a block and the bytes that were written to it. Memory of make has the zero handle.
type segment struct {
	block slab.PooledBuffer
	data  []byte
}

const (
	// While a Buffer is small it takes sizes that strategies cut from slabs without much rest. A block
	// of 100 KiB would take 120 KiB of the Go heap.
	smallStep, smallBelow = 512, 6 << 10
	pageStep, pageBelow   = 4 << 10, 64 << 10
	// Larger blocks have a region of their own: sizeclass cuts smaller blocks from slabs.
	wholeStep, wholeBelow = 40 << 10, 8 * wholeStep
	// stepShare is the share of its size, as a divisor, that a Buffer takes from there on.
	stepShare = 8
)

// errNoPool is the error of calls that need memory in a Buffer without a Pool.
var errNoPool = fmt.Errorf("iobuf: a Buffer without a Pool: %w", slab.ErrClosed)

// size returns the size of the next segment, for need bytes.
func (b *Buffer) size(need int) int { return max(need, b.step(need)) }

// step is size if little is written. Small steps are powers of two, so that there are few slabs.
func (b *Buffer) step(need int) int {
	switch have := b.before + len(b.data); {
	case have == 0:
		return b.whole(b.sizes.size())
	case have <= smallBelow && need <= pageStep:
		return max(smallStep, 1<<bits.Len(uint(need-1)))
	case have <= pageBelow:
		return pageStep
	case have <= wholeBelow:
		return wholeStep
	default:
		return b.whole(roundUp(have/stepShare, pageStep))
	}
}

// whole returns a size of at least n and 512 bytes that fills a block. Pools on the Go heap have size
// classes by default, four a doubling; other pools cut blocks of the size that was asked for.
func (b *Buffer) whole(n int) int {
	if !b.sizes.onHeap {
		return n
	}
	return roundUp(n, 1<<(bits.Len(uint(n-1))-3))
}

// roundUp returns the next multiple of a power of two.
func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// makeRoom makes room for n more bytes, if there is none at the end: in the block, or in a further
// segment for the bytes that do not fit into the last one, which the caller has to push. It moves the
// contents within the block if they will fill at most half of it, so that moves are rare. If there is
// no room in the pool it moves them whenever they fit.
func (b *Buffer) makeRoom(n, fit int) (next segment, err error) {
	switch {
	case b.pool == nil:
		return next, errNoPool
	case n < 0 || n > math.MaxInt-b.Len():
		return next, fmt.Errorf("iobuf: Grow of a Buffer of %d bytes by %d: %w", b.Len(), n, slab.ErrSize)
	case b.moveUp(n, 2):
		return next, nil
	}
	next, err = b.take(b.size(n-fit), n-fit)
	if outOfMemory(err) && b.moveUp(n, 1) {
		err = nil
	}
	return next, err
}

// moveUp moves the unread bytes to the front of the block, if it is the only block and has room for n
// bytes more in its first half, or third and so on.
func (b *Buffer) moveUp(n, part int) bool {
	if len(b.full) > 0 || n > cap(b.data)/part-b.Len() {
		return false
	}
	b.compact()
	return true
}

// compact moves the unread bytes of the only segment to the front of its block.
func (b *Buffer) compact() {
	if b.read > 0 {
		b.notePeak()
		b.data, b.read = b.data[:copy(b.data, b.data[b.read:])], 0
	}
}

// take gets a segment of size bytes, or, if there is no room for that, of need bytes.
func (b *Buffer) take(size, need int) (segment, error) {
	s, err := b.get(size)
	if outOfMemory(err) && size > need {
		return b.get(need)
	}
	return s, err
}

// get gets a segment of n bytes, which only the Buffer gives back.
func (b *Buffer) get(n int) (segment, error) {
	block, err := b.pool.Get(n)
	if err != nil {
		return segment{}, err
	}
	m := block.Bytes()
	if m == nil {
		err = fmt.Errorf("iobuf: the CPU does not reach the pool's memory: %w", device.ErrUnavailable)
		return segment{}, errors.Join(err, block.Release())
	}
	block.Hide()
	return segment{block, m[:0]}, nil
}

func outOfMemory(err error) bool { return errors.Is(err, device.ErrOutOfMemory) }

// push makes s the last segment. s takes the place of a last segment without bytes.
func (b *Buffer) push(s segment) {
	old := segment{block: b.block}
	if len(b.data) > 0 {
		b.full = append(b.full, segment{b.block, b.data})
		b.before += len(b.data)
		b.parted, old = true, segment{}
	}
	b.block, b.data = s.block, s.data
	_ = old.block.Release() // or there is none
}

// pop takes the last segment off.
func (b *Buffer) pop() segment {
	last, at := segment{b.block, b.data}, len(b.full)-1
	b.block, b.data = b.full[at].block, b.full[at].data
	b.full[at] = segment{}
	b.full, b.before = b.full[:at], b.before-len(b.data)
	return last
}

// join makes all segments one, with room for n bytes.
func (b *Buffer) join(n int) error {
	s, err := b.take(n, n)
	if err == nil {
		b.joinTo(s)
	}
	return err
}

// joinAnyhow is join with as much room at the end as there is. Without room in the pool it takes memory
// of make: Bytes has no error to return, and callers do not expect a panic.
func (b *Buffer) joinAnyhow() {
	n := b.Len() + b.room()
	if b.join(n) != nil {
		b.joinTo(segment{data: make([]byte, 0, n)})
	}
}

func (b *Buffer) joinTo(s segment) {
	b.notePeak()
	for _, p := range b.Segments() {
		s.data = append(s.data, p...)
	}
	full, last := b.full, b.block
	b.full, b.before, b.read = nil, 0, 0
	b.block, b.data = s.block, s.data
	discardAll(full, last)
}

// first returns the unread bytes of the first segment.
func (b *Buffer) first() []byte {
	if len(b.full) > 0 {
		return b.full[0].data[b.read:]
	}
	return b.data[b.read:len(b.data):len(b.data)]
}

// advance counts n bytes as read. Segments that were read go back. Once all bytes are read, the next
// bytes are written to the front of the last segment.
func (b *Buffer) advance(n int) {
	b.notePeak()
	i := 0
	for ; i < len(b.full) && n >= len(b.full[i].data)-b.read; i++ {
		n -= len(b.full[i].data) - b.read
		b.before -= len(b.full[i].data)
		b.read = 0
	}
	gone := b.full[:i]
	b.full = b.full[i:]
	b.read += n
	b.rewind()
	discardAll(gone, none)
}

// rewind has the next bytes written to the front of an empty Buffer.
func (b *Buffer) rewind() {
	if b.Len() == 0 {
		b.data, b.read = b.data[:0], 0
	}
}

// discardAll releases segments and a block that nothing else knows. If one Release panics it still releases
// the others.
func discardAll(list []segment, last slab.PooledBuffer) {
	if len(list) == 0 {
		_ = last.Release() // or there is none
		return
	}
	defer discardAll(list[1:], last)
	block := list[0].block
	list[0] = segment{}
	_ = block.Release()
}
