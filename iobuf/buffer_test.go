package iobuf

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// text returns n bytes that say where they are.
func text(n int) []byte {
	m := make([]byte, n)
	for i := range m {
		m[i] = byte(i*7 + i>>8)
	}
	return m
}

func mustWrite(t testing.TB, b *Buffer, p []byte) {
	t.Helper()
	if n, err := b.Write(p); n != len(p) || err != nil {
		t.Fatalf("%d bytes of %d written: %v", n, len(p), err)
	}
}

func wantContents(t testing.TB, b *Buffer, want []byte) {
	t.Helper()
	if got := b.Bytes(); !bytes.Equal(got, want) || b.Len() != len(want) || cap(got) != len(got) {
		t.Fatalf("%d bytes of capacity %d, Len %d, are not the %d wanted", len(got), cap(got), b.Len(), len(want))
	}
}

// What is written comes out, on every stack that the CPU reaches; elsewhere nothing is written.
func TestBuffer(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c slab.Config) {
		p := openPool(t, dev, c)
		b := New(p)
		if dev == "virtual" || dev == "sim" {
			if n, err := b.Write([]byte("a")); n != 0 || !errors.Is(err, device.ErrUnavailable) {
				t.Errorf("memory that the CPU does not reach: %d, %v", n, err)
			}
			checkNoneOut(t, p)
			return
		}
		want := text(300_000)
		for i := 0; i < len(want); i += 1000 {
			mustWrite(t, b, want[i:i+1000])
		}
		if b.Cap() > len(want)*5/4 {
			t.Errorf("Cap %d", b.Cap())
		}
		wantContents(t, b, want)
		b.Release()
		checkNoneOut(t, p)
	})
}

// Grow makes room at once. What cannot be is an error, and changes nothing.
func TestBufferGrow(t *testing.T) {
	p := openPool(t, "heap", slab.Config{MaxBytes: 1 << 20})
	b := New(p)
	defer b.Release()
	mustWrite(t, b, text(10))
	if err := b.Grow(100_000); err != nil {
		t.Fatal(err)
	}
	before := gets(p)
	mustWrite(t, b, text(100_010)[10:])
	if gets(p) != before {
		t.Error("a Write after Grow took memory")
	}
	if err := b.Grow(0); err != nil || gets(p) != before {
		t.Errorf("Grow(0): %v", err)
	}
	had := b.Cap()
	for _, c := range []struct {
		n  int
		is error
	}{{-1, slab.ErrSize}, {math.MinInt, slab.ErrSize}, {math.MaxInt, slab.ErrSize}, {1 << 20, device.ErrOutOfMemory}, {math.MaxInt - 200_000, device.ErrOutOfMemory}} {
		if err := b.Grow(c.n); !errors.Is(err, c.is) || b.Cap() != had {
			t.Errorf("Grow(%d): %v, Cap %d", c.n, err, b.Cap())
		}
	}
	wantContents(t, b, text(100_010))
}

// A Write without room writes nothing, and what fits is written still.
func TestBufferWithoutRoom(t *testing.T) {
	for _, line := range []string{"device=heap,strategy=direct,max_bytes=64KiB", "device=mmap,max_bytes=64KiB", "device=sim:pinned,strategy=direct,max_bytes=64KiB"} {
		p := openLine(t, line)
		b := New(p)
		want := text(60_000)
		mustWrite(t, b, want[:10_000])
		for _, write := range []func() (int, error){
			func() (int, error) { return b.Write(text(100_000)) },
			func() (int, error) { return b.WriteString(strings.Repeat("a", 100_000)) },
		} {
			if n, err := write(); n != 0 || !errors.Is(err, device.ErrOutOfMemory) {
				t.Errorf("%s: %d, %v", line, n, err)
			}
		}
		wantContents(t, b, want[:10_000])
		mustWrite(t, b, want[10_000:40_000])
		wantContents(t, b, want[:40_000])
		b.Release()
		checkNoneOut(t, p)
		p.Close()
	}
}

// Where there is no room for a whole segment there may be for what is written.
func TestBufferWithoutRoomForASegment(t *testing.T) {
	b := New(openLine(t, "device=heap,strategy=direct,max_bytes=100KiB"))
	defer b.Release()
	mustWrite(t, b, text(98_000))
	mustWrite(t, b, text(101_000)[98_000:])
	if b.Cap() != 101_000 {
		t.Errorf("Cap %d", b.Cap())
	}
	wantContents(t, b, text(101_000))
}

// Where there is no room for a segment the Buffer tries half as much, and so on, down to what is to be written.
func TestBufferTriesHalfASegment(t *testing.T) {
	for _, c := range []struct{ full, cut, n, room int }{
		{80 << 10, 80 << 10, 1, 100 << 10},    // 40 KiB were the next, 20 KiB are left
		{98_000, 97_500, 3500, 98_000 + 3000}, // 500 bytes fit before
	} {
		b := New(openLine(t, "device=heap,strategy=direct,max_bytes=100KiB"))
		mustWrite(t, b, text(c.full))
		b.Truncate(c.cut)
		mustWrite(t, b, text(c.cut + c.n)[c.cut:])
		if wantSegments(t, b, text(c.cut+c.n)); b.Cap() != c.room {
			t.Errorf("Cap %d, not %d", b.Cap(), c.room)
		}
		b.Release()
	}
}

// Where there is no room in the pool what was read makes room, to the last byte.
func TestBufferMovesWithoutRoom(t *testing.T) {
	b := New(openLine(t, "device=heap,strategy=direct,max_bytes=4KiB"))
	mustWrite(t, b, text(4096))
	b.Read(make([]byte, 1000))
	if _, err := b.Write(text(1001)); !errors.Is(err, device.ErrOutOfMemory) {
		t.Error(err)
	}
	mustWrite(t, b, text(5096)[4096:])
	wantContents(t, b, text(5096)[1000:])
	b.Release()
}

// ReadFrom and WriteByte say that there is no room, and keep what came.
func TestBufferReadsUntilThereIsNoRoom(t *testing.T) {
	p := openLine(t, "device=heap,strategy=direct,max_bytes=64KiB")
	b := New(p)
	want := text(100_000)
	n, err := b.ReadFrom(bytes.NewReader(want))
	if !errors.Is(err, device.ErrOutOfMemory) || n < 30_000 || int(n) != b.Len() {
		t.Errorf("%d bytes, %v", n, err)
	}
	wantContents(t, b, want[:n])
	for err = nil; err == nil; err = b.WriteByte('a') {
	}
	if !errors.Is(err, device.ErrOutOfMemory) {
		t.Error(err)
	}
	if got := b.Bytes(); !bytes.Equal(got[:n], want[:n]) {
		t.Error("the contents changed")
	}
}

// Bytes that were read make room: a Buffer that is written and read in turns does not grow.
func TestBufferAsAQueue(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b := New(p)
	mustWrite(t, b, text(100))
	for i := range 1000 {
		mustWrite(t, b, text(100))
		got := make([]byte, 100)
		if n, err := b.Read(got); n != 100 || err != nil || !bytes.Equal(got, text(100)) {
			t.Fatalf("turn %d: %d, %v", i, n, err)
		}
	}
	if wantContents(t, b, text(100)); b.Cap() != 512 || gets(p) != 1 {
		t.Errorf("Cap %d after %d Gets", b.Cap(), gets(p))
	}
}

// What fills more than half of the block is not moved to its front time and again.
func TestBufferAsALongQueueGrows(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	mustWrite(t, b, text(512))
	b.Read(make([]byte, 10))
	mustWrite(t, b, text(517)[512:])
	if wantContents(t, b, text(517)[10:]); b.Cap() <= 512 {
		t.Errorf("Cap %d", b.Cap())
	}
}

// A queue that fills most of a block moves to a larger one, once.
func TestBufferAsALargeQueueGrowsOnce(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b := New(p)
	defer b.Release()
	mustWrite(t, b, text(4096))
	for range 200 {
		b.Read(make([]byte, 100))
		mustWrite(t, b, make([]byte, 100))
	}
	if b.Len() != 4096 || len(b.Segments()) != 1 || gets(p) != 2 || b.Cap() > 2*4096 {
		t.Errorf("Len %d, Cap %d after %d Gets", b.Len(), b.Cap(), gets(p))
	}
}

// After Release a Buffer begins anew. Without memory Release does nothing.
func TestBufferRelease(t *testing.T) {
	p := openPool(t, "heap", slab.Config{Strict: true}) // a second Release would panic
	b := New(p)
	for range 3 {
		mustWrite(t, b, text(1000))
		wantContents(t, b, text(1000))
		b.Release()
		checkNoneOut(t, p)
		b.Release()
		b.Reset()
		if b.Len() != 0 || b.Cap() != 0 {
			t.Errorf("Len %d, Cap %d", b.Len(), b.Cap())
		}
	}
}

// Detach gives the unread contents away, and no more; the Buffer can be used again.
func TestBufferDetach(t *testing.T) {
	one := New(openLine(t, ""))
	mustWrite(t, one, text(10))
	one.ReadByte()
	h := check.Ok(one.Detach())(t)
	if !bytes.Equal(h.Bytes(), text(10)[1:]) {
		t.Errorf("behind a byte that was read there are %v", h.Bytes())
	}
	mustRelease(t, h)
	for _, line := range []string{"device=heap", "device=mmap", "device=heap,check=true", "device=mmap,strategy=direct"} {
		p := openLine(t, line)
		b := New(p)
		mustWrite(t, b, text(5000))
		b.Read(make([]byte, 10))
		x, err := b.Detach()
		if err != nil || x.Len() != 4990 || !bytes.Equal(x.Bytes(), text(5000)[10:]) || x.Cap() < 4990 {
			t.Fatalf("%s: %d bytes, %v", line, x.Len(), err)
		}
		mustWrite(t, b, text(300))
		wantContents(t, b, text(300))
		if !bytes.Equal(x.Bytes(), text(5000)[10:]) {
			t.Errorf("%s: the Buffer has written to what was detached", line)
		}
		mustRelease(t, x)
		b.Release()
		x, err = b.Detach()
		if err != nil || x.Len() != 0 || x.Release() != nil {
			t.Errorf("%s: of an empty Buffer: %d bytes, %v", line, x.Len(), err)
		}
		checkNoneOut(t, p)
		p.Close()
	}
}

// In a closed pool what takes no memory works, and what fails leaves the contents.
func TestBufferOfAClosedPool(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b := New(p)
	mustWrite(t, b, text(500))
	p.Close()
	if _, err := b.Write(text(100)); !errors.Is(err, slab.ErrClosed) {
		t.Error(err)
	}
	mustWrite(t, b, text(512)[500:]) // there is room for these
	wantContents(t, b, text(512))
	h, err := b.Detach()
	if err != nil || string(h.Bytes()) != string(text(512)) {
		t.Errorf("%d bytes, %v", h.Len(), err)
	}
	mustRelease(t, h)
	if checkNoneOut(t, p); p.Stats().ManagedBytes != 0 {
		t.Errorf("something is left: %+v", p.Stats())
	}
}

// A Buffer without a pool is empty.
func TestZeroBuffer(t *testing.T) {
	for _, b := range []*Buffer{{}, New(nil), New(new(slab.Pool))} {
		_, write := b.Write([]byte("a"))
		_, writeString := b.WriteString("a")
		_, readFrom := b.ReadFrom(strings.NewReader("a"))
		_, detach := b.Detach()
		for _, err := range []error{write, writeString, readFrom, detach, b.WriteByte('a'), b.Grow(1)} {
			if !errors.Is(err, slab.ErrClosed) {
				t.Error(err)
			}
		}
		if err := b.Grow(-1); !errors.Is(err, slab.ErrSize) {
			t.Errorf("Grow by -1: %v", err)
		}
		_, read := b.Read(make([]byte, 1))
		_, readByte := b.ReadByte()
		if read != io.EOF || readByte != io.EOF || b.Len() != 0 || b.Cap() != 0 || len(b.Bytes()) != 0 {
			t.Errorf("%v, %v, %d bytes", read, readByte, b.Len())
		}
		if n, err := b.Read(nil); n != 0 || err != nil {
			t.Errorf("Read of nothing: %d, %v", n, err)
		}
		if n, err := b.WriteTo(io.Discard); n != 0 || err != nil {
			t.Errorf("WriteTo: %d, %v", n, err)
		}
		b.Truncate(0)
		b.Reset()
		b.Release()
	}
}

// Truncate beyond the contents is a mistake.
func TestBufferTruncate(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	mustWrite(t, b, text(10))
	b.ReadByte()
	wantPanic(t, "iobuf: Truncate of a Buffer of 9 bytes to 10", func() { b.Truncate(10) })
	wantPanic(t, "iobuf: Truncate of a Buffer of 9 bytes to -1", func() { b.Truncate(-1) })
	b.Truncate(5)
	wantContents(t, b, text(10)[1:6])
}

// Buffers of one pool are independent of each other.
func TestBuffersConcurrently(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 200 {
				b := New(p)
				want := text(100 + 1000*(j%7)*(i+1))
				for k := 0; k < len(want); k += 100 {
					b.Write(want[k : k+100])
				}
				if !bytes.Equal(b.Bytes(), want) {
					t.Error("other contents")
				}
				b.Release()
			}
		})
	}
	wg.Wait()
	checkNoneOut(t, p)
}

// A Buffer that is used again allocates nothing, whether it was Reset or released.
func TestBufferAllocatesNothing(t *testing.T) {
	if raceEnabled || sanitized {
		t.Skip("The race detector and asan instrument every access: what is counted here is not what programs have.")
	}
	b, p := New(openPool(t, "heap", slab.Config{})), text(3000)
	for range 100 { // the pool learns
		for range 10 {
			b.Write(p)
		}
		b.Release()
	}
	for name, end := range map[string]func(){"Reset": b.Reset, "Release": b.Release} {
		if n := check.Allocs(100, func() {
			for range 10 {
				b.Write(p)
			}
			end()
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A Buffer goes on without a block whose Release panics, as that of Check does for a dead canary.
func TestABufferLosesWhatPanicked(t *testing.T) {
	for what, f := range map[string]func(b *Buffer){
		"Release": (*Buffer).Release,
		"Grow":    func(b *Buffer) { b.Truncate(0); _ = b.Grow(3000) },
	} {
		p := checkedPool(t)
		b := New(p)
		b.Write(make([]byte, 500))
		of := b.block
		writeBeyond(of)
		if !doesPanic(func() { f(b) }) {
			t.Fatalf("%s: no panic", what)
		}
		x := check.Ok(p.Get(of.Len()))(t) // the same memory
		b.WriteByte(7)
		if beginsIn(b.Bytes(), x) {
			t.Errorf("%s: it writes to another owner's buffer", what)
		}
		mustRelease(t, x)
	}
}

// A Detach that panics keeps the block, unless that has gone back.
func TestBufferDropsOnlyAStaleBlock(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	b := New(p)
	mustWrite(t, b, text(500))
	b.dropStale()
	wantContents(t, b, text(500))
	mustRelease(t, b.block)
	if b.dropStale(); b.Len() != 0 || b.Cap() != 0 {
		t.Errorf("Len %d, Cap %d of a block that has gone back", b.Len(), b.Cap())
	}
	checkNoneOut(t, p)
}

// What a Buffer has is its own: a Put of Bytes gives nothing back.
func TestPutRefusesBytes(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(t, line)
		b := New(p)
		for _, n := range []int{10, 100_000} {
			if _, err := b.Write(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			if err := p.Put(b.Bytes()); !errors.Is(err, slab.ErrForeign) {
				t.Errorf("%s: %d bytes: %v", line, n, err)
			}
		}
		h, err := b.Detach()
		if err := errors.Join(err, p.Put(h.Bytes())); err != nil {
			t.Errorf("%s: what a Buffer gave away: %v", line, err)
		}
		b.Release()
		checkNoneOut(t, p)
	}
}

// A leak is the line of the program that wrote, not one in here.
func TestLeaksNameTheCaller(t *testing.T) {
	p := openLine(t, "on_forget=report")
	b, _ := ofSegments(t, p, 20_000)
	list := p.Leaks()
	for _, l := range list {
		if !strings.Contains(l.Site, "_test.go") {
			t.Errorf("a block is out of %s", l.Site)
		}
	}
	if len(list) != len(b.Segments()) {
		t.Errorf("%d blocks are out", len(list))
	}
	b.Release()
}

// New takes the Buffer, and a key of some bytes to look the pool up.
func TestNewAllocatesLittle(t *testing.T) {
	if raceEnabled || sanitized {
		t.Skip("The race detector and asan instrument every access: what is counted here is not what programs have.")
	}
	p := openPool(t, "heap", slab.Config{})
	var b *Buffer
	if n := check.Allocs(100, func() { b = New(p) }); n > 2 || b.Len() != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What is appended to AvailableBuffer and written lies where it was appended, or is copied if it did not fit.
func TestAvailableBuffer(t *testing.T) {
	b := New(openPool(t, "heap", slab.Config{}))
	defer b.Release()
	if m := b.AvailableBuffer(); len(m) != 0 || cap(m) != 0 {
		t.Errorf("%d of %d bytes without memory", len(m), cap(m))
	}
	var want []byte
	check.Must(t, b.Grow(100))
	for i := range 300 {
		m := b.AvailableBuffer()
		if len(m) != 0 || cap(m) != b.Cap()-len(want) && len(want) < 512 {
			t.Fatalf("%d of %d bytes, where %d of %d are written", len(m), cap(m), len(want), b.Cap())
		}
		m = strconv.AppendInt(m, int64(i), 10)
		want = strconv.AppendInt(want, int64(i), 10)
		if _, err := b.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	wantContents(t, b, want)
	check.Must(t, b.Grow(10))
	n, m := b.Len(), append(b.AvailableBuffer(), "abc"...)
	b.Write(m)
	if got := b.Bytes()[n:]; &got[0] != &m[0] {
		t.Error("it was copied")
	}
}
