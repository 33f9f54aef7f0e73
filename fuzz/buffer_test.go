package fuzz_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

// A bufferModel is a Buffer and the bytes.Buffer that it has to be like.
type bufferModel struct {
	pool  *slab.Pool
	b     *iobuf.Buffer
	want  bytes.Buffer
	tight bool // Writes may fail
}

// check is run after each step. It joins nothing.
func (m *bufferModel) check(t *rapid.T) {
	want := m.want.Bytes()
	for _, s := range m.b.Segments() {
		if len(s) == 0 || cap(s) != len(s) || !bytes.HasPrefix(want, s) {
			t.Fatalf("a segment of %d bytes, capacity %d, is not what comes next", len(s), cap(s))
		}
		want = want[len(s):]
	}
	if len(want) > 0 || m.b.Len() != m.want.Len() || m.b.Cap() < m.b.Len() {
		t.Fatalf("%d bytes are in no segment; Len %d, Cap %d, want %d", len(want), m.b.Len(), m.b.Cap(), m.want.Len())
	}
}

// bytes joins.
func (m *bufferModel) bytes(t *rapid.T) {
	room := m.b.Cap()
	if got := m.b.Bytes(); !bytes.Equal(got, m.want.Bytes()) || cap(got) != len(got) || m.b.Cap() < m.b.Len() || len(m.b.Segments()) > 1 {
		t.Fatalf("%d bytes of capacity %d, Cap %d, before %d, %d segments", len(got), cap(got), m.b.Cap(), room, len(m.b.Segments()))
	}
}

// wrote compares what a Write of p has returned.
func (m *bufferModel) wrote(t *rapid.T, p []byte, n int, err error) {
	switch {
	case err == nil && n == len(p):
		m.want.Write(p)
	case n != 0 || !m.tight || !errors.Is(err, device.ErrOutOfMemory):
		t.Fatalf("%d bytes of %d written: %v", n, len(p), err)
	}
}

func (m *bufferModel) write(t *rapid.T) {
	p := draw.Bytes(t, draw.Size(t))
	n, err := m.b.Write(p)
	m.wrote(t, p, n, err)
}

func (m *bufferModel) writeString(t *rapid.T) {
	p := draw.Bytes(t, draw.Size(t))
	n, err := m.b.WriteString(string(p))
	m.wrote(t, p, n, err)
}

func (m *bufferModel) writeByte(t *rapid.T) {
	for range rapid.IntRange(1, 600).Draw(t, "times") {
		n := 1
		err := m.b.WriteByte('b')
		if err != nil {
			n = 0
		}
		m.wrote(t, []byte("b"), n, err)
	}
}

// readFrom reads from a Reader of any kind, which may fail.
func (m *bufferModel) readFrom(t *rapid.T) {
	p := draw.Bytes(t, draw.Size(t)%20_000)
	var r io.Reader = bytes.NewReader(p)
	failure := errors.New("the Reader's")
	fails := rapid.Bool().Draw(t, "fails")
	if fails {
		r = io.MultiReader(r, iotest.ErrReader(failure))
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		r = iotest.HalfReader(r)
	case 1:
		r = iotest.DataErrReader(r)
	case 2:
		r = io.LimitReader(r, int64(draw.MaxInt))
	}
	n, err := m.b.ReadFrom(r)
	if n < 0 || int(n) > len(p) {
		t.Fatalf("%d bytes of %d read", n, len(p))
	}
	m.want.Write(p[:n])
	switch {
	case errors.Is(err, device.ErrOutOfMemory) && m.tight:
	case int(n) != len(p) || fails && err != failure || !fails && err != nil:
		t.Fatalf("%d bytes of %d read: %v", n, len(p), err)
	}
}

func (m *bufferModel) read(t *rapid.T) {
	got, want := make([]byte, draw.Size(t)), make([]byte, 1<<18)
	n, err := m.b.Read(got)
	k, wantErr := m.want.Read(want[:len(got)])
	if n != k || err != wantErr || !bytes.Equal(got[:n], want[:k]) {
		t.Fatalf("read %d, %v, want %d, %v", n, err, k, wantErr)
	}
}

func (m *bufferModel) readByte(t *rapid.T) {
	c, err := m.b.ReadByte()
	want, wantErr := m.want.ReadByte()
	if c != want || err != wantErr {
		t.Fatalf("read %d, %v, want %d, %v", c, err, want, wantErr)
	}
}

// writeTo writes to a Writer that takes so many bytes in all.
func (m *bufferModel) writeTo(t *rapid.T) {
	takes := draw.Size(t)
	var got, want bytes.Buffer
	n, err := m.b.WriteTo(&part{&got, takes})
	k, wantErr := m.want.WriteTo(&part{&want, takes})
	if n != k || err != wantErr || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("wrote %d, %v, want %d, %v", n, err, k, wantErr)
	}
}

// A part is a Writer that takes n bytes.
type part struct {
	to *bytes.Buffer
	n  int
}

func (p *part) Write(m []byte) (int, error) { return p.to.Write(m[:min(p.n-p.to.Len(), len(m))]) }

func (m *bufferModel) grow(t *rapid.T) {
	n := draw.Size(t)
	switch err := m.b.Grow(n); {
	case err == nil && m.b.Cap() < m.b.Len()+n:
		t.Fatalf("Cap %d after Grow(%d) at %d", m.b.Cap(), n, m.b.Len())
	case err == nil && rapid.Bool().Draw(t, "writes"):
		m.grown(t, n)
	case err != nil && (!m.tight || !errors.Is(err, device.ErrOutOfMemory)):
		t.Fatal(err)
	}
	if err := m.b.Grow(draw.Negative(t)); !errors.Is(err, slab.ErrSize) {
		t.Fatal(err)
	}
	if err := m.b.Grow(rapid.SampledFrom(draw.Absurd).Draw(t, "absurd")); err == nil {
		t.Fatal("an absurd Grow")
	}
}

// grown writes the n bytes that Grow has made room for, in two pieces: that takes no memory.
func (m *bufferModel) grown(t *rapid.T, n int) {
	before := m.pool.Stats()
	if rapid.Bool().Draw(t, "joins") {
		m.bytes(t)
		before = m.pool.Stats()
	}
	at := rapid.IntRange(0, n).Draw(t, "first")
	for _, p := range [][]byte{make([]byte, at), make([]byte, n-at)} {
		k, err := m.b.Write(p)
		m.wrote(t, p, k, err)
	}
	if after := m.pool.Stats(); after.Hits+after.Misses != before.Hits+before.Misses {
		t.Fatalf("a Write after Grow(%d) took memory", n)
	}
}

func (m *bufferModel) truncate(t *rapid.T) {
	n := rapid.IntRange(0, m.want.Len()).Draw(t, "n")
	m.b.Truncate(n)
	m.want.Truncate(n)
}

func (m *bufferModel) reset(*rapid.T) {
	m.b.Reset()
	m.want.Reset()
}

func (m *bufferModel) release(t *rapid.T) {
	m.b.Release()
	m.want.Reset()
	m.checkNoneOut(t)
}

func (m *bufferModel) detach(t *rapid.T) {
	x, err := m.b.Detach()
	if err != nil {
		if !m.tight || !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatal(err)
		}
		return
	}
	if x.Len() != m.want.Len() || !bytes.Equal(x.Bytes(), m.want.Bytes()) {
		t.Fatalf("%d bytes detached, want %d", x.Len(), m.want.Len())
	}
	m.want.Reset()
	model.OK(t, x.Release())
}

func (m *bufferModel) checkNoneOut(t *rapid.T) {
	if s := m.pool.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
		t.Fatalf("%+v", s)
	}
}

// bufferProperty is that Buffers of a pool by c are like bytes.Buffers.
func bufferProperty(c slab.Config) func(*rapid.T) {
	c.GCTrigger = -1
	return func(t *rapid.T) {
		p, err := slab.OpenConfig(c)
		model.OK(t, err)
		defer p.Close()
		m := &bufferModel{pool: p, b: iobuf.New(p), tight: c.MaxBytes > 0}
		model.Repeat(t, map[string]func(*rapid.T){
			"": m.check, "Write": m.write, "WriteString": m.writeString, "WriteByte": m.writeByte, "ReadFrom": m.readFrom,
			"Read": m.read, "ReadByte": m.readByte, "WriteTo": m.writeTo, "Grow": m.grow, "Truncate": m.truncate,
			"Bytes": m.bytes, "Reset": m.reset, "Release": m.release, "Detach": m.detach,
		})
		m.release(t)
	}
}

func TestBuffers(t *testing.T) {
	for name, c := range map[string]slab.Config{
		"heap": {}, "mmap": {Device: "mmap"}, "bestfit": {Device: "mmap", Strategy: "bestfit"}, "direct": {Strategy: "direct"},
		"check": {Device: "mmap", Check: true}, "tight": {MaxBytes: 96 << 10},
		"tight sim": {Device: "sim:pinned", Strategy: "direct", MaxBytes: 64 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model.Check(t, bufferProperty(c))
		})
	}
}

// FuzzBuffer lets the fuzzer choose the program.
func FuzzBuffer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bufferProperty(slab.Config{}))) }
