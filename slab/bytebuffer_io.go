package slab

import (
	"fmt"
	"io"
)

// What a Buffer reads and writes.

// Write appends p. It takes all of p or, with the error of [Buffer.Grow], nothing.
func (b *Buffer) Write(p []byte) (n int, err error) {
	if len(p) > cap(b.data)-len(b.data) {
		if err := b.makeRoom(len(p)); err != nil {
			return 0, err
		}
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// WriteString is Write of the bytes of s.
func (b *Buffer) WriteString(s string) (n int, err error) {
	if len(s) > cap(b.data)-len(b.data) {
		if err := b.makeRoom(len(s)); err != nil {
			return 0, err
		}
	}
	b.data = append(b.data, s...)
	return len(s), nil
}

// WriteByte appends a byte, or returns the error of [Buffer.Grow].
func (b *Buffer) WriteByte(c byte) error {
	if len(b.data) == cap(b.data) {
		if err := b.makeRoom(1); err != nil {
			return err
		}
	}
	b.data = append(b.data, c)
	return nil
}

// ReadFrom appends what r has until io.EOF, which is no error. It returns the bytes that came,
// and the first other error of r or of [Buffer.Grow]. The block doubles when it is full, and not
// before. It panics if r says that it has read less than nothing or more than it was given.
func (b *Buffer) ReadFrom(r io.Reader) (n int64, err error) {
	for {
		if len(b.data) == cap(b.data) {
			if err := b.makeRoom(1); err != nil {
				return n, err
			}
		}
		room := b.data[len(b.data):cap(b.data)]
		m, err := r.Read(room)
		if m < 0 || m > len(room) {
			panic(fmt.Sprintf("slab: a Reader has put %d bytes into %d of a Buffer", m, len(room)))
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

// Read moves the next bytes to p and returns how many there were. Where none are left the
// error is io.EOF, unless p is empty.
func (b *Buffer) Read(p []byte) (n int, err error) {
	if b.Len() == 0 {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n = copy(p, b.data[b.read:])
	b.advance(n)
	return n, nil
}

// ReadByte returns the next byte, or io.EOF.
func (b *Buffer) ReadByte() (byte, error) {
	if b.Len() == 0 {
		return 0, io.EOF
	}
	c := b.data[b.read]
	b.advance(1)
	return c, nil
}

// WriteTo writes what was not read to w, by one call of its Write. It returns the bytes that w
// took, which count as read, and w's error, or io.ErrShortWrite where it took less without one.
// It panics if w says that it took less than nothing or more than there was.
func (b *Buffer) WriteTo(w io.Writer) (n int64, err error) {
	have := b.Len()
	if have == 0 {
		return 0, nil
	}
	m, err := w.Write(b.Bytes())
	if m < 0 || m > have {
		panic(fmt.Sprintf("slab: a Writer took %d of %d bytes of a Buffer", m, have))
	}
	b.advance(m)
	if m < have && err == nil {
		err = io.ErrShortWrite
	}
	return int64(m), err
}

// advance counts n bytes as read. Once all are, the next ones are written to the front.
func (b *Buffer) advance(n int) {
	if b.read += n; b.read == len(b.data) {
		b.Truncate(0)
	}
}
