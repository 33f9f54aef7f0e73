package iobuf

import (
	"fmt"
	"io"
	"net"
)

// How a Buffer reads and writes.

// Write appends p. It takes all of p or, with the error of [Buffer.Grow], nothing.
func (b *Buffer) Write(p []byte) (n int, err error) {
	if len(p) > b.room() {
		return writeMore(b, p)
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// WriteString is Write of the bytes of s.
func (b *Buffer) WriteString(s string) (n int, err error) {
	if len(s) > b.room() {
		return writeMore(b, s)
	}
	b.data = append(b.data, s...)
	return len(s), nil
}

// writeMore is Write of more bytes than the last segment has room for: it fills the segment and
// begins another. A last segment without bytes is replaced.
func writeMore[T string | []byte](b *Buffer, p T) (n int, err error) {
	fit := b.room()
	if len(b.data) == 0 {
		fit = 0
	}
	next, err := b.makeRoom(len(p), fit)
	if err != nil {
		return 0, err
	}
	n = len(p)
	if next.data != nil {
		b.data = append(b.data, p[:fit]...)
		p = p[fit:]
		b.push(next)
	}
	b.data = append(b.data, p...)
	return n, nil
}

// WriteByte appends a byte, or returns the error of [Buffer.Grow].
func (b *Buffer) WriteByte(c byte) error {
	if b.room() == 0 {
		if err := b.Grow(1); err != nil {
			return err
		}
	}
	b.data = append(b.data, c)
	return nil
}

// ReadFrom appends the bytes of r until io.EOF, which is no error. It returns the number of bytes,
// and the first other error of r or of [Buffer.Grow]. It takes the next segment when the last one
// is full, and not before. It panics if r returns a negative number, or more bytes than it was given
// room for.
func (b *Buffer) ReadFrom(r io.Reader) (n int64, err error) {
	for {
		if b.room() == 0 {
			if err := b.Grow(1); err != nil {
				return n, err
			}
		}
		room := b.data[len(b.data):cap(b.data)]
		m, err := r.Read(room)
		if m < 0 || m > len(room) {
			panic(fmt.Sprintf("iobuf: a Reader has put %d bytes into %d of a Buffer", m, len(room)))
		}
		b.data = b.data[:len(b.data)+m]
		n += int64(m)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Read moves the next bytes to p and returns their number. If none are left the error is io.EOF,
// unless p is empty.
func (b *Buffer) Read(p []byte) (n int, err error) {
	if b.Len() == 0 {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	for n < len(p) && b.Len() > 0 {
		m := copy(p[n:], b.first())
		b.advance(m)
		n += m
	}
	return n, nil
}

// ReadByte returns the next byte, or io.EOF.
func (b *Buffer) ReadByte() (byte, error) {
	if b.Len() == 0 {
		return 0, io.EOF
	}
	c := b.first()[0]
	b.advance(1)
	return c, nil
}

// WriteTo writes the unread bytes to w: by one call of w.Write for each segment, or to a connection of
// package net by one write of net.Buffers. It returns the number of bytes that w took, which count as
// read, and w's error, or io.ErrShortWrite where w took less without an error. Segments that w has
// taken go back at once. WriteTo panics if w returns a negative number, or more bytes than it was given.
func (b *Buffer) WriteTo(w io.Writer) (n int64, err error) {
	if len(b.full) > 0 && takesBuffers(w) {
		list := net.Buffers(b.Segments())
		n, err = list.WriteTo(w)
		b.advance(int(n))
		return n, err
	}
	for b.Len() > 0 && err == nil {
		var m int
		m, err = b.writeFirst(w)
		n += int64(m)
	}
	return n, err
}

// takesBuffers reports whether net.Buffers writes to w by one call of the system. A connection that w
// embeds does not count: w may have a Write of its own.
func takesBuffers(w io.Writer) bool {
	switch w.(type) {
	case *net.TCPConn, *net.UnixConn, *net.UDPConn, *net.IPConn:
		return true
	}
	return false
}

// writeFirst is WriteTo of the first segment.
func (b *Buffer) writeFirst(w io.Writer) (n int, err error) {
	n, err = writeAll(w, b.first(), "Buffer")
	b.advance(n)
	return n, err
}

// writeAll has w write p, and checks the answer. of names the owner of the bytes.
func writeAll(w io.Writer, p []byte, of string) (n int, err error) {
	n, err = w.Write(p)
	if n < 0 || n > len(p) {
		panic(fmt.Sprintf("iobuf: a Writer took %d of %d bytes of a %s", n, len(p), of))
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}
