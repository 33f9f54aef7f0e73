package iobuf

import (
	"io"
	"math"
	"net"
)

// WriteTo writes the unread bytes to w, as [Buffer.WriteTo] does: segment by segment without a copy,
// to a connection of package net by one write of net.Buffers. It returns the number of bytes that w
// took, which count as read, and w's error, io.ErrShortWrite, or ErrClosed. WriteTo holds no lock: a
// Close meanwhile returns at once. Then WriteTo writes no further segment, except of net.Buffers, and
// the memory goes back when WriteTo ends. It panics if w returns a negative number, or more bytes than
// it was given.
func (b *Body) WriteTo(w io.Writer) (n int64, err error) {
	m, err := b.enter()
	if err != nil {
		return 0, err
	}
	defer m.leave()
	from, to := b.claim(math.MaxInt)
	defer func() { b.at.Add(n - int64(to-from)) }() // bytes that w did not take can be read again
	if len(m.list) > 1 && takesBuffers(w) {
		list := net.Buffers(m.slices(from))
		return list.WriteTo(w)
	}
	for _, p := range m.list {
		if p.to <= from {
			continue
		}
		if b.closed.Load() {
			return n, ErrClosed
		}
		k, err := p.writeTo(w, max(0, from-p.from))
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// writeTo writes the bytes of a piece, beginning at from.
func (p piece) writeTo(w io.Writer, from int) (n int, err error) {
	stale := p.use(func(data []byte) { n, err = writeAll(w, data[from:], "Body") })
	if stale != nil {
		return 0, stale
	}
	return n, err
}

// slices returns the bytes from a place on. All pieces have data: only Bodies of a Buffer have several.
func (m *shared) slices(from int) [][]byte {
	all := make([][]byte, 0, len(m.list))
	for _, p := range m.list {
		if p.to > from {
			all = append(all, p.data[max(0, from-p.from):])
		}
	}
	return all
}
