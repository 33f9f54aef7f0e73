package iobuf

import (
	"sync/atomic"

	"github.com/bufslab/bufslab/slab"
)

// The memory that the readers of a Body share.

// A shared is memory that goes back with the last of its users: readers that are open, and calls
// that run. Until then the memory does not change.
type shared struct {
	list  []piece
	size  int // bytes of all
	users atomic.Int64
}

// A piece is a segment with its place in the whole. A piece without data is used by With of its handle:
// other code may have copies of the handle, and off the Go heap With does not hand the bytes out
// for good.
type piece struct {
	segment
	from, to int
}

// add appends bytes of a block that nobody else knows.
func (m *shared) add(block slab.PooledBuffer, data []byte) {
	m.append(segment{block, data[:len(data):len(data)]}, len(data))
}

// addBlock appends a block whole.
func (m *shared) addBlock(block slab.PooledBuffer) { m.append(segment{block: block}, block.Len()) }

func (m *shared) append(s segment, n int) {
	m.list = append(m.list, piece{s, m.size, m.size + n})
	m.size += n
}

// open returns the first reader.
func (m *shared) open() *Body {
	m.users.Store(1)
	return &Body{memory: m}
}

// enter makes the caller a user. It refuses if the memory has gone back.
func (m *shared) enter() bool {
	for {
		n := m.users.Load()
		if n == 0 {
			return false
		}
		if m.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave undoes enter, or ends a reader. The last user gives the memory back.
func (m *shared) leave() {
	if m.users.Add(-1) == 0 {
		m.giveBack()
	}
}

func (m *shared) giveBack() {
	segments := make([]segment, len(m.list))
	for i, p := range m.list {
		segments[i] = p.segment
	}
	m.list = nil // a reader that is kept keeps no memory alive
	discardAll(segments, none)
}

// copyTo copies the bytes from a place on to p, which is no longer than these bytes.
func (m *shared) copyTo(p []byte, from int) (n int, err error) {
	for _, s := range m.list {
		if s.to <= from || n == len(p) {
			continue
		}
		err = s.use(func(data []byte) { n += copy(p[n:], data[from+n-s.from:]) })
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// stale returns slab.ErrReleased if a copy of a handle was released.
func (m *shared) stale() (err error) {
	for _, p := range m.list {
		if err == nil {
			err = p.use(func([]byte) {})
		}
	}
	return err
}

// use calls f with the bytes of a piece. The error is slab.ErrReleased if a copy of its handle was
// released.
func (p piece) use(f func([]byte)) error {
	if p.data != nil {
		f(p.data)
		return nil
	}
	return p.block.With(f)
}
