package iobuf

import (
	"io"
	"math"
	"net"
)

// WriteTo writes what was not read to w, as [Buffer.WriteTo] does: segment by segment without a copy,
// to a connection of package net by one of net.Buffers. It returns the bytes that w took, which
// count as read, and w's error, io.ErrShortWrite, or ErrClosed. It holds no lock: a Close meanwhile
// returns at once, WriteTo then writes no further segment, except of net.Buffers, and the memory goes
// back when it ends. It panics if w says that it took less than nothing or more than there was.
func (b *Body) WriteTo(w io.Writer) (n int64, err error) {
	m, err := b.enter()
	if err != nil {
		return 0, err
	}
	defer m.leave()
	from, to := b.claim(math.MaxInt)
	defer func() { b.at.Add(n - int64(to-from)) }() // what w did not take can be read again
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

// writeTo writes the bytes of a piece from one on.
func (p piece) writeTo(w io.Writer, from int) (n int, err error) {
	stale := p.use(func(data []byte) { n, err = writeAll(w, data[from:], "Body") })
	if stale != nil {
		return 0, stale
	}
	return n, err
}

// slices returns what is from a place on, of pieces with data: those of a Buffer, which alone can
// be several.
func (m *shared) slices(from int) [][]byte {
	all := make([][]byte, 0, len(m.list))
	for _, p := range m.list {
		if p.to > from {
			all = append(all, p.data[max(0, from-p.from):])
		}
	}
	return all
}
