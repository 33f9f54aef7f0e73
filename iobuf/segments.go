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
	// leastBlock is what a read takes before a byte has come.
	leastBlock = 512
	// While a Buffer is small it takes two sizes, as each size has a slab of its own on the Go heap: 512, and
	// 4 KiB, which strategies cut from slabs without much rest. A block of 100 KiB would take 120 KiB there.
	pageStep, pageBelow = 4 << 10, 16 << 10
	// Blocks above 32 KiB have a region of their own: sizeclass cuts smaller blocks from slabs. The first one
	// fills up to wholeFrom bytes.
	wholeFrom, wholeStep, wholeBelow = 64 << 10, 40 << 10, 8 * wholeStep
	// stepShare is the share of its size, as a divisor, that a Buffer takes from there on.
	stepShare = 8
	// halvings is how often a Buffer halves a segment that there is no room for.
	halvings = 4
	// firstSegments is the room of the list of segments to begin with: that many have some 64 KiB.
	firstSegments = 8
)

// errNoPool is the error of calls that need memory in a Buffer without a Pool.
var errNoPool = fmt.Errorf("iobuf: a Buffer without a Pool: %w", slab.ErrClosed)

// step returns the size of the next segment of a Buffer that has some bytes in all. Sizes above wholeBelow are
// four a doubling: pools on the Go heap have such size classes by default, and all Buffers take the same sizes, so
// that the blocks of one fit the next.
func step(have int) int {
	switch {
	case have < pageBelow:
		return pageStep
	case have < wholeBelow:
		return max(wholeFrom-have, min(wholeStep, have))
	default:
		n := have / stepShare
		return roundUp(n, 1<<(bits.Len(uint(n))-3))
	}
}

// roundUp returns the next multiple of a power of two.
func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// makeRoom makes room for n more bytes, if there is none at the end: in the block, or in a further
// segment for the bytes that do not fit into the last one, which the caller has to push. It moves the
// contents within the block if they will fill at most half of it, so that moves are rare. If there is
// no room in the pool it moves them whenever they fit.
func (b *Buffer) makeRoom(n, fit int) (next segment, err error) {
	switch {
	case n < 0 || n > math.MaxInt-b.Len():
		return next, fmt.Errorf("iobuf: Grow of a Buffer of %d bytes by %d: %w", b.Len(), n, slab.ErrSize)
	case b.pool == nil:
		return next, errNoPool
	case b.moveUp(n, 2):
		return next, nil
	case len(b.full) == 0 && b.Len()+n <= pageStep:
		err = b.moveTo(b.Len() + n)
	default:
		next, err = b.take(max(n-fit, step(b.before+len(b.data)+fit)), n-fit)
	}
	if outOfMemory(err) && b.moveUp(n, 1) {
		err = nil
	}
	return next, err
}

// moveTo moves the contents of a small Buffer to a block of at least n bytes, and of more than it has.
func (b *Buffer) moveTo(n int) error {
	size := max(n, leastBlock)
	if b.Len() > 0 {
		size = max(pageStep, 2*cap(b.data))
	}
	s, err := b.take(size, n)
	if err == nil {
		b.joinTo(s)
	}
	return err
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
		b.data, b.read = b.data[:copy(b.data, b.data[b.read:])], 0
	}
}

// take gets a segment of size bytes. Where there is no room for that it halves the size some times, down to
// need bytes, and then fails: to go on in ever smaller segments takes a search of the whole pool for each.
func (b *Buffer) take(size, need int) (s segment, err error) {
	least := max(need, min(size, leastBlock), size>>halvings)
	for {
		s, err = b.get(size)
		if size == least || !outOfMemory(err) {
			return s, err
		}
		size = max(size/2, least)
	}
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
		if b.full == nil {
			b.full = make([]segment, 0, firstSegments)
		}
		b.full = append(b.full, segment{b.block, b.data})
		b.before += len(b.data)
		old = segment{}
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
	s, err := b.get(n)
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
	at := b.read
	for _, p := range b.full {
		s.data, at = append(s.data, p.data[at:]...), 0
	}
	s.data = append(s.data, b.data[at:]...)
	full, last := b.full, b.block
	b.full, b.before, b.read = full[:0], 0, 0
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
