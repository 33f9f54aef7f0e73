package iobuf

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"github.com/bufslab/bufslab/slab"
)

// A Buffer is a Reader as package io wants it.
func TestBufferAsAReader(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 100_000} {
		b := New(openPool(t, "heap", slab.Config{}))
		mustWrite(t, b, text(n))
		if err := iotest.TestReader(b, text(n)); err != nil {
			t.Error(err)
		}
		b.Release()
	}
}

// ReadFrom takes whatever pieces a Reader gives, and appends them.
func TestBufferReadsFromAnyReader(t *testing.T) {
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader,
		"halves": iotest.HalfReader, "end with data": iotest.DataErrReader,
	} {
		p := openPool(t, "heap", slab.Config{})
		b := New(p)
		mustWrite(t, b, text(10))
		n, err := b.ReadFrom(wrap(bytes.NewReader(text(20_000)[10:])))
		if n != 19_990 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		wantContents(t, b, text(20_000))
		b.Release()
		checkNoneOut(t, p)
	}
}

// An error of the Reader is that of ReadFrom, and what came before it is kept.
func TestBufferReadsFromAReaderThatFails(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	failing := io.MultiReader(bytes.NewReader(text(3000)), iotest.ErrReader(errLost))
	if n, err := b.ReadFrom(failing); n != 3000 || err != errLost {
		t.Errorf("%d, %v", n, err)
	}
	wantContents(t, b, text(3000))
}

// A liar is a Reader and a Writer that says any number.
type liar int

func (l liar) Read([]byte) (int, error)  { return int(l), nil }
func (l liar) Write([]byte) (int, error) { return int(l), nil }

// A wrong count of a Reader or a Writer is its mistake; the contents are as before.
func TestBufferAndWrongCounts(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	mustWrite(t, b, text(500))
	wantPanic(t, "iobuf: a Reader has put -1 bytes into 12 of a Buffer", func() { b.ReadFrom(liar(-1)) })
	wantPanic(t, "iobuf: a Reader has put 13 bytes into 12 of a Buffer", func() { b.ReadFrom(liar(13)) })
	wantPanic(t, "iobuf: a Writer took -1 of 500 bytes of a Buffer", func() { b.WriteTo(liar(-1)) })
	wantPanic(t, "iobuf: a Writer took 501 of 500 bytes of a Buffer", func() { b.WriteTo(liar(501)) })
	wantContents(t, b, text(500))
}

// An announcer says that it has more than comes.
type announcer struct{ io.Reader }

func (announcer) Len() int    { return math.MaxInt }
func (announcer) Size() int64 { return math.MaxInt64 }

// What is announced takes no memory: only what has come does, and no more than as much again, or 4 KiB.
func TestBufferTrustsNoLength(t *testing.T) {
	for _, n := range []int{0, 10, 512, 3000, 1_000_000} {
		few := bytes.NewReader(text(n))
		for name, r := range map[string]io.Reader{"limited": io.LimitReader(few, math.MaxInt64), "Len": announcer{few}} {
			few.Seek(0, io.SeekStart)
			p := openPool(t, "heap", slab.Config{})
			b := New(p)
			if _, err := b.ReadFrom(r); err != nil {
				t.Error(err)
			}
			if wantContents(t, b, text(n)); b.Cap() > max(512, min(8*n, 4<<10), 2*n) {
				t.Errorf("%s: Cap %d for %d bytes", name, b.Cap(), n)
			}
			if asked := p.Stats().ActiveBytes; asked != int64(b.Cap()) {
				t.Errorf("%s: %d bytes are out", name, asked)
			}
			b.Release()
		}
	}
}

// WriteTo gives all, and what the Writer did not take stays.
func TestBufferWriteTo(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	mustWrite(t, b, text(1000))
	if n, err := b.WriteTo(liar(10)); n != 10 || err != io.ErrShortWrite {
		t.Errorf("%d, %v", n, err)
	}
	wantContents(t, b, text(1000)[10:])
	r, w := io.Pipe()
	r.CloseWithError(errLost)
	if n, err := b.WriteTo(w); n != 0 || !errors.Is(err, errLost) {
		t.Errorf("%d, %v", n, err)
	}
	wantContents(t, b, text(1000)[10:])
	var all bytes.Buffer
	for _, last := range []int{0, 1} {
		few := New(openPool(t, "heap", slab.Config{}))
		mustWrite(t, few, text(last))
		if n, err := few.WriteTo(&all); n != int64(last) || err != nil || !bytes.Equal(all.Bytes(), text(last)) || few.Len() != 0 {
			t.Errorf("of %d bytes %d were written: %v", last, n, err)
		}
		all.Reset()
	}
	if n, err := b.WriteTo(&all); n != 990 || err != nil || !bytes.Equal(all.Bytes(), text(1000)[10:]) || b.Len() != 0 {
		t.Errorf("%d, %v", n, err)
	}
}
