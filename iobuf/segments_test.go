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
	"github.com/bufslab/bufslab/internal/check"
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

// lens returns the bytes of each segment.
func lens(b *Buffer) (list []int) {
	for _, s := range b.Segments() {
		list = append(list, len(s))
	}
	return list
}

// The sizes of segments are those that Buffer's documentation says, however the bytes come: 4 KiB, from 16 KiB on what
// is left to 64 KiB, then 40 KiB, and from 320 KiB on an eighth or a little more.
func TestSegmentsHaveTheSizesThatAreDocumented(t *testing.T) {
	m := text(400 << 10)
	want := []int{4, 4, 4, 4, 48, 40, 40, 40, 40, 40, 40, 40, 48, 8}
	for i := range want {
		want[i] <<= 10
	}
	for how, write := range map[string]func(b *Buffer){
		"ReadFrom": func(b *Buffer) { b.ReadFrom(bytes.NewReader(m)) },
		"Writes": func(b *Buffer) {
			for i := 0; i < len(m); i += 100 {
				b.Write(m[i:min(i+100, len(m))])
			}
		},
		"WriteByte": func(b *Buffer) {
			for _, c := range m {
				b.WriteByte(c)
			}
		},
	} {
		b := New(openPool(t, "heap", slab.Config{}))
		write(b)
		check.Same(t, lens(b), want, how)
		wantSegments(t, b, m)
		b.Release()
	}
}

// A Write into a Buffer of some bytes: small ones share one block of 512 bytes or 4 KiB, others fill the last segment
// before the next one begins, and what fits exactly takes nothing. A segment without bytes is replaced.
func TestBufferWritesIntoWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		have, n int
		lens    []int
		room    int // of all segments
	}{
		{0, 512, []int{512}, 512},
		{0, 513, []int{513}, 513},
		{0, 100_000, []int{100_000}, 100_000},
		{1, 511, []int{512}, 512},
		{1, 600, []int{601}, 4096},
		{1, 100_000, []int{512, 99_489}, 100_001},
		{500, 12, []int{512}, 512},
		{500, 3596, []int{4096}, 4096},
		{500, 3597, []int{512, 3585}, 512 + 4096},
		{512, 1, []int{513}, 4096},
	} {
		for how, write := range map[string]func(b *Buffer, m []byte) (int, error){
			"Write":       (*Buffer).Write,
			"WriteString": func(b *Buffer, m []byte) (int, error) { return b.WriteString(string(m)) },
		} {
			b := New(openPool(t, "mmap", slab.Config{}))
			mustWrite(t, b, text(512))
			b.Reset() // so it has a block
			mustWrite(t, b, text(c.have))
			if n, err := write(b, text(c.have + c.n)[c.have:]); n != c.n || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			check.Same(t, lens(b), c.lens, how)
			if b.Cap() != c.room {
				t.Errorf("%s of %d to %d bytes: Cap %d, not %d", how, c.n, c.have, b.Cap(), c.room)
			}
			wantContents(t, b, text(c.have+c.n))
			b.Release()
		}
	}
}

// Grow beside a single byte keeps the byte, in a segment of its own.
func TestBufferGrowsBesideAByte(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	defer b.Release()
	mustWrite(t, b, text(1))
	check.Must(t, b.Grow(100_000))
	mustWrite(t, b, text(100_001)[1:])
	wantSegments(t, b, text(100_001))
	wantContents(t, b, text(100_001))
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
	for _, c := range []struct{ n, piece, keeps int }{
		{100, 100, 512}, {4096, 4096, 4096}, {4097, 4097, 0}, {16 << 20, 16 << 20, 0}, {5000, 500, 0},
	} {
		for i := 0; i < c.n; i += c.piece { // the last row has two segments of 4 KiB
			mustWrite(t, b, make([]byte, c.piece))
		}
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
	list := []int{}
	for have := wholeBelow; have < 1<<30; have += have/97 + 1 {
		list = append(list, have)
	}
	for n := 1 << 16; n < 1<<27; n *= 2 {
		list = append(list, (n-1)*stepShare, n*stepShare, (n+1)*stepShare)
	}
	for _, have := range list {
		n, least := step(have), have/stepShare
		if top := bits.Len(uint(n)) - 3; n < least || n-least >= 1<<top || n&(1<<top-1) != 0 {
			t.Fatalf("a step of %d bytes with %d", n, have)
		}
	}
}
