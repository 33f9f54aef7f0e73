package iobuf

import (
	"bytes"
	"errors"
	"io"
	"math/bits"
	"net"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// ofSegments returns a Buffer of n bytes in at least three segments. The pool is to be new.
func ofSegments(t testing.TB, p *slab.Pool, n int) (*Buffer, []byte) {
	t.Helper()
	b, want := New(p), text(n)
	for i := 0; i < n; i += 1000 {
		mustWrite(t, b, want[i:min(i+1000, n)])
	}
	if len(b.Segments()) < 3 {
		t.Fatalf("%d segments", len(b.Segments()))
	}
	return b, want
}

func wantSegments(t testing.TB, b *Buffer, want []byte) {
	t.Helper()
	for i, s := range b.Segments() {
		if len(s) == 0 || len(s) != cap(s) || !bytes.HasPrefix(want, s) {
			t.Fatalf("segment %d, %d bytes of capacity %d, is not what comes next", i, len(s), cap(s))
		}
		want = want[len(s):]
	}
	if len(want) > 0 {
		t.Fatalf("%d bytes are in no segment", len(want))
	}
}

// Segments are what was written and not read, where it is.
func TestBufferSegments(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	if list := New(p).Segments(); len(list) != 0 {
		t.Errorf("%d segments of nothing", len(list))
	}
	b, want := ofSegments(t, p, 300_000)
	before := gets(p)
	wantSegments(t, b, want)
	at := unsafe.SliceData(b.Segments()[0])
	mustWrite(t, b, text(340_000)[300_000:])
	if unsafe.SliceData(b.Segments()[0]) != at {
		t.Error("what was written moved")
	}
	for _, n := range []int{10, 700, 5000, 100_000} {
		io.CopyN(io.Discard, struct{ io.Reader }{b}, int64(n))
		want = want[n:]
		wantSegments(t, b, append(want, text(340_000)[300_000:]...))
	}
	b.Truncate(len(want) - 1000)
	wantSegments(t, b, want[:len(want)-1000])
	if n := gets(p) - before; n > 2 {
		t.Errorf("%d Gets", n)
	}
	b.Truncate(0)
	wantSegments(t, b, nil)
	b.Release()
	checkNoneOut(t, p)
}

// A Write fills the last segment first. If it is larger than what is left, and not small, the next one
// is what it needs.
func TestBufferFillsSegments(t *testing.T) {
	b := New(openPool(t, "mmap", slab.Config{}))
	defer b.Release()
	mustWrite(t, b, text(500))
	mustWrite(t, b, text(100_000)[500:])
	if list := b.Segments(); len(list) != 2 || len(list[0]) != 512 || b.Cap() != 100_000 {
		t.Errorf("%d segments, the first of %d bytes, Cap %d", len(list), len(list[0]), b.Cap())
	}
	wantSegments(t, b, text(100_000))
}

// Bytes joins segments once. Then there is one, and what Grow has made room for is there still.
func TestBufferJoinsOnce(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, want := ofSegments(t, p, 300_000)
	io.CopyN(io.Discard, struct{ io.Reader }{b}, 10_000)
	if err := b.Grow(50_000); err != nil {
		t.Fatal(err)
	}
	wantContents(t, b, want[10_000:])
	before, at := gets(p), unsafe.SliceData(b.Bytes())
	if list := b.Segments(); len(list) != 1 || unsafe.SliceData(list[0]) != at {
		t.Errorf("%d segments", len(list))
	}
	if s := p.Stats(); s.ActiveBlocks != 1 {
		t.Errorf("%d blocks are out", s.ActiveBlocks)
	}
	mustWrite(t, b, text(350_000)[300_000:])
	if wantContents(t, b, text(350_000)[10_000:]); gets(p) != before || unsafe.SliceData(b.Bytes()) != at {
		t.Error("joined again, or moved")
	}
}

// Where the pool has no room Bytes joins in memory of make, which is the Buffer's as any other; Detach
// has an error, and changes nothing.
func TestBufferJoinsWithoutRoom(t *testing.T) {
	for what, spoil := range map[string]func(p *slab.Pool){"full": func(*slab.Pool) {}, "closed": func(p *slab.Pool) { p.Close() }} {
		is := map[string]error{"full": device.ErrOutOfMemory, "closed": slab.ErrClosed}[what]
		p := openLine(t, "device=heap,strategy=direct,max_bytes=150000")
		b, want := ofSegments(t, p, 100_000)
		spoil(p)
		if _, err := b.Detach(); !errors.Is(err, is) {
			t.Errorf("%s: Detach: %v", what, err)
		}
		wantSegments(t, b, want)
		wantContents(t, b, want)
		if s := p.Stats(); s.ActiveBlocks != 0 {
			t.Errorf("%s: %d blocks are out", what, s.ActiveBlocks)
		}
		b.Bytes()[0]++
		if c, _ := b.ReadByte(); c != want[0]+1 {
			t.Errorf("%s: what was written to Bytes is not there", what)
		}
		if what == "full" {
			x, err := b.Detach()
			if err != nil || !bytes.Equal(x.Bytes(), want[1:]) {
				t.Errorf("what was joined is not detached: %v", err)
			}
			mustRelease(t, x)
		}
		if b.Reset(); b.Cap() != 0 {
			t.Errorf("%s: Reset keeps memory of make", what)
		}
		checkNoneOut(t, p)
		p.Close()
	}
}

// Room that Grow has made stays where all is kept that there is.
func TestBufferKeepsTheRoomOfGrow(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, want := ofSegments(t, p, 20_000)
	if err := b.Grow(50_000); err != nil {
		t.Fatal(err)
	}
	b.Truncate(b.Len())
	io.CopyN(io.Discard, struct{ io.Reader }{b}, 20_000)
	before := gets(p)
	mustWrite(t, b, text(50_000))
	if wantSegments(t, b, text(50_000)); gets(p) != before {
		t.Errorf("a Write after Grow and Truncate to %d took memory", len(want))
	}
}

// A Grow that is not used gives way to a larger one.
func TestBufferReplacesASegmentWithoutBytes(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, want := ofSegments(t, p, 10_000)
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		if err := b.Grow(n); err != nil || b.Cap() > 10_000+n*5/4 {
			t.Errorf("Cap %d after Grow(%d): %v", b.Cap(), n, err)
		}
	}
	wantSegments(t, b, want)
	b.Release()
	checkNoneOut(t, p)
}

// Segments that were read go back while others are read.
func TestBufferGivesBackWhatWasRead(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, want := ofSegments(t, p, 300_000)
	had := p.Stats().ActiveBytes
	got := make([]byte, 250_000)
	if n, err := b.Read(got); n != len(got) || err != nil || !bytes.Equal(got, want[:n]) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if now := p.Stats().ActiveBytes; now > had-200_000 {
		t.Errorf("%d bytes are out, of %d", now, had)
	}
	wantContents(t, b, want[250_000:])
}

// No segment can be Put: it is the Buffer's.
func TestPutRefusesSegments(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(t, line)
		b, _ := ofSegments(t, p, 100_000)
		for _, s := range b.Segments() {
			if err := p.Put(s); !errors.Is(err, slab.ErrForeign) {
				t.Errorf("%s: %v", line, err)
			}
		}
		b.Release()
		checkNoneOut(t, p)
	}
}

// Reset gives segments back, and a block of more than 4 KiB. It keeps a smaller one.
func TestBufferReset(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, _ := ofSegments(t, p, 300_000)
	b.Reset()
	b.Reset()
	checkNoneOut(t, p)
	for _, c := range []struct{ n, keeps int }{{100, 512}, {4096, 4096}, {4097, 0}, {16 << 20, 0}} {
		mustWrite(t, b, make([]byte, c.n))
		io.CopyN(io.Discard, struct{ io.Reader }{b}, 10)
		b.Reset()
		if b.Len() != 0 || b.Cap() != c.keeps || p.Stats().ActiveBytes != int64(c.keeps) {
			t.Errorf("%d bytes: Len %d, Cap %d after Reset", c.n, b.Len(), b.Cap())
		}
	}
	mustWrite(t, b, text(500))
	b.Reset()
	before := gets(p)
	mustWrite(t, b, text(500))
	if wantContents(t, b, text(500)); gets(p) != before {
		t.Error("a Write after Reset took memory")
	}
	b.Release()
	checkNoneOut(t, p)
}

// A forgotten Buffer of several blocks comes back.
func TestForgottenBufferOfSegments(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	ofSegments(t, p, 300_000)
	collected(t, "the blocks come back", func() bool { return p.Stats().ActiveBlocks == 0 })
}

// If a Release panics the other segments go back all the same, and a Buffer that joins has its contents.
func TestBufferOfSegmentsWhoseReleasePanics(t *testing.T) {
	for what, f := range map[string]func(b *Buffer){
		"Release":  (*Buffer).Release,
		"Reset":    (*Buffer).Reset,
		"Bytes":    func(b *Buffer) { b.Bytes() },
		"Truncate": func(b *Buffer) { b.Truncate(0) },
		"Read":     func(b *Buffer) { b.Read(make([]byte, b.Len())) },
	} {
		p := checkedPool(t)
		b, want := ofSegments(t, p, 10_000)
		writeBeyond(b.full[1].block)
		if !doesPanic(func() { f(b) }) {
			t.Fatalf("%s: no panic", what)
		}
		switch what {
		case "Bytes":
			wantContents(t, b, want)
		case "Read": // what was not read yet is there
			wantContents(t, b, want[len(want)-b.Len():])
		default:
			wantContents(t, b, nil)
		}
		b.Release()
		checkNoneOut(t, p)
	}
}

// A counter is a Writer that counts its calls, and takes so many bytes in all.
type counter struct {
	bytes.Buffer
	calls, takes int
}

func (c *counter) Write(p []byte) (int, error) {
	c.calls++
	n := min(len(p), c.takes-c.Len())
	return c.Buffer.Write(p[:n])
}

// WriteTo writes each segment by one call, where it lies; what is not taken stays.
func TestBufferWritesSegments(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, want := ofSegments(t, p, 100_000)
	segments, before := len(b.Segments()), gets(p)
	c := counter{takes: 60_000}
	if n, err := b.WriteTo(&c); n != 60_000 || err != io.ErrShortWrite {
		t.Errorf("%d, %v", n, err)
	}
	wantSegments(t, b, want[60_000:])
	first := c.calls
	c.takes = len(want)
	if n, err := b.WriteTo(&c); n != 40_000 || err != nil || !bytes.Equal(c.Bytes(), want) {
		t.Errorf("%d, %v", n, err)
	}
	if c.calls != segments+1 || first < 2 || gets(p) != before { // one was taken in part
		t.Errorf("%d calls for %d segments, %d Gets", c.calls, segments, gets(p)-before)
	}
	if b.Len() != 0 {
		t.Errorf("%d bytes are left", b.Len())
	}
	b.Release()
	checkNoneOut(t, p)
}

// pair returns the ends of a TCP connection.
func pair(t *testing.T) (*net.TCPConn, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no TCP connection can be made here: %v", err)
	}
	defer l.Close()
	w, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); r.Close() })
	return w.(*net.TCPConn), r
}

// A connection gets all segments at once; if it fails what it did not take stays.
func TestBufferWritesToAConnection(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b, want := ofSegments(t, p, 300_000)
	w, r := pair(t)
	if !takesBuffers(w) || takesBuffers(struct{ *net.TCPConn }{w}) || takesBuffers(io.Discard) {
		t.Error("net.Buffers is for connections themselves")
	}
	all := make(chan []byte)
	go func() {
		got, _ := io.ReadAll(r)
		all <- got
	}()
	if n, err := b.WriteTo(w); n != 300_000 || err != nil || b.Len() != 0 {
		t.Errorf("%d, %v", n, err)
	}
	w.CloseWrite()
	if got := <-all; !bytes.Equal(got, want) {
		t.Errorf("%d other bytes came", len(got))
	}
	b.Release()
	p = openPool(t, "heap", slab.Config{})
	b, want = ofSegments(t, p, 200_000)
	if n, err := b.WriteTo(w); n != 0 || err == nil {
		t.Errorf("closed: %d, %v", n, err)
	}
	wantSegments(t, b, want)
	b.Release()
	checkNoneOut(t, p)
}

// From wholeBelow on a step is an eighth of what a Buffer has, up to the next of four sizes a doubling.
func TestStepsAreFourADoubling(t *testing.T) {
	for n, want := range map[int]int{1: 64, 63: 64, 64: 64, 65: 128, 129: 192} {
		if got := roundUp(n, 64); got != want {
			t.Errorf("%d is rounded up to %d", n, got)
		}
	}
	for have := wholeBelow; have < 1<<30; have += have/97 + 1 {
		n, least := step(have), have/stepShare
		if top := bits.Len(uint(n)) - 3; n < least || n-least >= 1<<top || n&(1<<top-1) != 0 {
			t.Fatalf("a step of %d bytes with %d", n, have)
		}
	}
}
