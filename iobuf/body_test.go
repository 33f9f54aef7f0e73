package iobuf

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// bodies are the ways to make a Body of a text.
var bodies = map[string]func(t testing.TB, p *slab.Pool, text []byte) *Body{
	"a Buffer":             bufferBody,
	"a Buffer half read":   halfReadBody,
	"a Buffer of a Detach": detachedBody,
	"a handle": func(t testing.TB, p *slab.Pool, text []byte) *Body {
		return check.Ok(NewBody(filled(t, p, text)))(t)
	},
	"a part": func(t testing.TB, p *slab.Pool, text []byte) *Body {
		h := filled(t, p, append([]byte("before"), text...))
		defer mustRelease(t, h)
		return check.Ok(NewBody(check.Ok(h.Slice(6, h.Len()))(t)))(t)
	},
	"another": func(t testing.TB, p *slab.Pool, text []byte) *Body {
		b := bufferBody(t, p, text)
		defer b.Close()
		b.Read(make([]byte, 10))
		return check.Ok(b.Another())(t).(*Body)
	},
	"a join without room": func(t testing.TB, p *slab.Pool, text []byte) *Body {
		b := New(p)
		mustWrite(t, b, text)
		b.joinTo(segment{data: make([]byte, 0, len(text))})
		return check.Ok(b.Body())(t)
	},
}

func bufferBody(t testing.TB, p *slab.Pool, text []byte) *Body {
	b := New(p)
	for i := 0; i < len(text); i += 1000 {
		mustWrite(t, b, text[i:min(i+1000, len(text))])
	}
	body := check.Ok(b.Body())(t)
	if b.Len() != 0 || b.Cap() != 0 {
		t.Errorf("the Buffer has %d bytes still, room for %d", b.Len(), b.Cap())
	}
	return body
}

func halfReadBody(t testing.TB, p *slab.Pool, text []byte) *Body {
	b := New(p)
	for range 3 {
		mustWrite(t, b, make([]byte, 700))
	}
	for i := 0; i < len(text); i += 1000 {
		mustWrite(t, b, text[i:min(i+1000, len(text))])
	}
	check.Ok(io.ReadFull(b, make([]byte, 2100)))(t)
	return check.Ok(b.Body())(t)
}

func detachedBody(t testing.TB, p *slab.Pool, text []byte) *Body {
	b := New(p)
	mustWrite(t, b, text)
	return check.Ok(NewBody(check.Ok(b.Detach())(t)))(t)
}

func filled(t testing.TB, p *slab.Pool, text []byte) slab.PooledBuffer {
	h := check.Ok(p.Get(len(text)))(t)
	check.Must(t, h.With(func(m []byte) { copy(m, text) }))
	return h
}

// A Body is a Reader as package io wants it, of all that was written, and its Close gives it back.
func TestBodyAsAReader(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=heap,strategy=exact,check=true"} {
		for name, open := range bodies {
			for _, n := range []int{0, 1, 1000, 20_000} {
				p := openLine(t, line)
				b := open(t, p, text(n))
				if b.Len() != n {
					t.Errorf("%s, %s: Len %d of %d", line, name, b.Len(), n)
				}
				if err := iotest.TestReader(b, text(n)); err != nil {
					t.Errorf("%s, %s: %v", line, name, err)
				}
				check.Must(t, b.Close(), b.Close())
				checkNoneOut(t, p)
			}
		}
	}
}

// A Body takes no memory of the pool, and what a Buffer has beyond its contents goes back at once.
func TestBodyTakesNothing(t *testing.T) {
	p := openLine(t, "")
	b := New(p)
	mustWrite(t, b, text(100_000))
	out := p.Stats().ActiveBytes
	check.Must(t, b.Grow(1<<20))
	before := gets(p)
	body := check.Ok(b.Body())(t)
	if s := p.Stats(); s.ActiveBytes != out || gets(p) != before {
		t.Errorf("%d bytes are out, and were %d; %d Gets", s.ActiveBytes, out, gets(p)-before)
	}
	mustWrite(t, b, text(10)) // the Buffer goes on
	wantContents(t, b, text(10))
	b.Release()
	if got := check.Ok(io.ReadAll(body))(t); !bytes.Equal(got, text(100_000)) {
		t.Error("the Body has other bytes")
	}
	body.Close()
	checkNoneOut(t, p)
}

// An empty Buffer, one that was read, and one without a pool are an empty Body.
func TestBodyOfNothing(t *testing.T) {
	p := openLine(t, "")
	wasRead := New(p)
	mustWrite(t, wasRead, text(10))
	check.Ok(io.Copy(io.Discard, wasRead))(t)
	for _, b := range []*Buffer{wasRead, New(p), New(nil), {}} {
		body := check.Ok(b.Body())(t)
		checkNoneOut(t, p)
		if n, err := body.Read(make([]byte, 1)); n != 0 || err != io.EOF || body.Len() != 0 {
			t.Errorf("%d, %v, Len %d", n, err, body.Len())
		}
		body.Close()
	}
}

// A stale handle, and memory that the CPU does not reach, are refused, and stay as they are.
func TestNewBodyRefuses(t *testing.T) {
	p := openLine(t, "")
	h := check.Ok(p.Get(10))(t)
	mustRelease(t, h)
	for _, stale := range []slab.PooledBuffer{h, {}} {
		if b, err := NewBody(stale); b != nil || err != slab.ErrReleased {
			t.Errorf("%v, %v", b, err)
		}
	}
	if n := p.Stats().DoubleReleases; n != 0 {
		t.Errorf("%d double releases", n)
	}
	far := openLine(t, "device=sim:64MiB")
	h = check.Ok(far.Get(10))(t)
	if b, err := NewBody(h); b != nil || !errors.Is(err, device.ErrUnavailable) {
		t.Errorf("%v, %v", b, err)
	}
	mustRelease(t, h)
}

// After Close nothing is read, and the error says so; the zero Body is closed.
func TestBodyAfterClose(t *testing.T) {
	p := openLine(t, "")
	closed := bufferBody(t, p, text(5000))
	keeps := check.Ok(closed.Another())(t)
	closed.Close()
	for _, b := range []*Body{closed, {}} {
		check.Must(t, b.Close())
		check.Wraps(t, check.Err(b.Read(make([]byte, 10))), ErrClosed, fs.ErrClosed)
		check.Wraps(t, check.Err(b.Read(nil)), ErrClosed)
		check.Wraps(t, check.Err(b.WriteTo(io.Discard)), ErrClosed)
		if b.Len() != 0 {
			t.Errorf("Len %d", b.Len())
		}
	}
	check.Wraps(t, check.Err(new(Body).Another()), ErrClosed)
	check.Must(t, keeps.Close())
	checkNoneOut(t, p)
}

// Another reads from the start, works as long as a reader is open, and the memory goes back with
// the last one.
func TestBodyAnother(t *testing.T) {
	p := openLine(t, "")
	first := bufferBody(t, p, text(50_000))
	check.Ok(io.ReadFull(first, make([]byte, 20_000)))(t)
	second := check.Ok(first.Another())(t)
	first.Close()
	third := check.Ok(first.Another())(t) // of one that is closed
	for _, r := range []io.ReadCloser{second, third} {
		if got := check.Ok(io.ReadAll(r))(t); !bytes.Equal(got, text(50_000)) {
			t.Errorf("%d other bytes", len(got))
		}
		if p.Stats().ActiveBlocks == 0 {
			t.Error("the memory is gone before the last reader has closed")
		}
		first.Close() // again
		check.Must(t, r.Close(), r.Close())
	}
	checkNoneOut(t, p)
	check.Wraps(t, check.Err(first.Another()), ErrClosed)
	if n := p.Stats().DoubleReleases; n != 0 {
		t.Errorf("%d double releases", n)
	}
}

// A gate is a Writer that holds a WriteTo until it is opened.
type gate struct {
	bytes.Buffer
	reached, open chan struct{}
}

func newGate() *gate { return &gate{reached: make(chan struct{}, 100), open: make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	g.reached <- struct{}{}
	<-g.open
	return g.Buffer.Write(p)
}

// Close beside a WriteTo returns at once. The memory goes back when the WriteTo ends, and what it
// writes until then is right.
func TestBodyCloseBesideWriteTo(t *testing.T) {
	for name, open := range bodies {
		p := openLine(t, "")
		b, g := open(t, p, text(50_000)), newGate()
		ended := make(chan error)
		go func() { ended <- check.Err(b.WriteTo(g)) }()
		<-g.reached
		check.Must(t, b.Close())
		if p.Stats().ActiveBlocks == 0 && name != "a join without room" {
			t.Errorf("%s: the memory is gone while it is written", name)
		}
		close(g.open)
		if err := <-ended; err != nil && err != ErrClosed {
			t.Errorf("%s: %v", name, err)
		}
		checkNoneOut(t, p)
		if got := g.Bytes(); len(got) == 0 || !bytes.HasPrefix(text(50_000), got) {
			t.Errorf("%s: %d other bytes", name, len(got))
		}
	}
}

// WriteTo writes no further segment after Close.
func TestBodyWriteToStopsAtClose(t *testing.T) {
	b, g := bufferBody(t, openLine(t, ""), text(50_000)), newGate()
	close(g.open)
	closes := writerFunc(func(p []byte) (int, error) {
		b.Close()
		return g.Write(p)
	})
	if n, err := b.WriteTo(closes); err != ErrClosed || n != int64(g.Len()) || n >= 50_000 {
		t.Errorf("%d, %v", n, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// What a Writer does not take can be read again, also if it has failed or lied.
func TestBodyWriteToThatFails(t *testing.T) {
	for name, open := range bodies {
		b := open(t, openLine(t, ""), text(3000))
		if n, err := b.WriteTo(liar(10)); n != 10 || err != io.ErrShortWrite || b.Len() != 2990 {
			t.Errorf("%s: %d, %v, Len %d", name, n, err, b.Len())
		}
		r, w := io.Pipe()
		r.CloseWithError(errLost)
		if n, err := b.WriteTo(w); n != 0 || err != errLost || b.Len() != 2990 {
			t.Errorf("%s: %d, %v, Len %d", name, n, err, b.Len())
		}
		check.Panics(t, "a liar", func() { b.WriteTo(liar(-1)) })
		check.Panics(t, "a liar", func() { b.WriteTo(liar(3001)) })
		if got := check.Ok(io.ReadAll(b))(t); !bytes.Equal(got, text(3000)[10:]) {
			t.Errorf("%s: %d other bytes", name, len(got))
		}
		b.Close()
	}
}

// WriteTo hands the segments themselves on, and to a connection of package net all by one call.
func TestBodyWriteToCopiesNothing(t *testing.T) {
	p := openLine(t, "")
	b := New(p)
	mustWrite(t, b, text(1000))
	mustWrite(t, b, text(100_000))
	segments := b.Segments()
	body := check.Ok(b.Body())(t)
	check.Ok(body.WriteTo(writerFunc(func(m []byte) (int, error) {
		if &m[0] != &segments[0][0] || len(m) != len(segments[0]) || cap(m) != len(m) {
			t.Errorf("%d bytes are not the segment of %d", len(m), len(segments[0]))
		}
		segments = segments[1:]
		return len(m), nil
	})))(t)
	if len(segments) != 0 {
		t.Errorf("%d segments were not written", len(segments))
	}
	body.Close()
}

// A segment that was read to its end is not written again, not even as a write of nothing.
func TestBodyWriteToBeginsWithASegment(t *testing.T) {
	b := New(openLine(t, ""))
	mustWrite(t, b, text(1000))
	mustWrite(t, b, text(100_000))
	body := check.Ok(b.Body())(t)
	defer body.Close()
	check.Ok(io.ReadFull(body, make([]byte, 1000)))(t)
	if list := body.memory.slices(1000); len(list) != 1 || len(list[0]) != 100_000 {
		t.Errorf("a connection gets %d slices", len(list))
	}
	calls := 0
	n, err := body.WriteTo(writerFunc(func(m []byte) (int, error) {
		calls++
		return len(m), nil
	}))
	if n != 100_000 || err != nil || calls != 1 {
		t.Errorf("%d bytes by %d calls: %v", n, calls, err)
	}
}

func TestBodyWriteToAConnection(t *testing.T) {
	for name, open := range bodies {
		p := openLine(t, "")
		client, server := connected(t)
		b := open(t, p, text(300_000))
		check.Ok(io.ReadFull(b, make([]byte, 1500)))(t)
		got := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(server)
			got <- all
		}()
		if n, err := io.Copy(client, b); n != 298_500 || err != nil || b.Len() != 0 {
			t.Errorf("%s: %d, %v, Len %d", name, n, err, b.Len())
		}
		client.Close()
		if !bytes.Equal(<-got, text(300_000)[1500:]) {
			t.Errorf("%s: other bytes", name)
		}
		b.Close()
		checkNoneOut(t, p)
	}
}

// connected returns both ends of a TCP connection.
func connected(t testing.TB) (client, server *net.TCPConn) {
	t.Helper()
	l := check.Ok(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	c := check.Ok(net.Dial("tcp", l.Addr().String()))(t)
	s := check.Ok(l.Accept())(t)
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

// Close of any reader, from any goroutine, as often as it likes, beside Reads: no reader sees
// another owner's bytes, and the memory goes back once.
func TestBodyCloseBesideRead(t *testing.T) {
	for name, open := range bodies {
		p := openLine(t, "")
		want := text(20_000)
		for range 30 {
			b := open(t, p, want)
			var all sync.WaitGroup
			for range 4 {
				r := check.Ok(b.Another())(t)
				all.Go(func() { readsTextOrIsClosed(t, r, want) })
				all.Go(func() { r.Close() })
				all.Go(func() { r.Close() })
			}
			all.Go(func() { b.Close() })
			all.Go(func() { overwriteFreed(p, len(want)) })
			all.Wait()
			checkNoneOut(t, p)
		}
		if n := p.Stats().DoubleReleases; n != 0 {
			t.Errorf("%s: %d double releases", name, n)
		}
	}
}

func readsTextOrIsClosed(t *testing.T, r io.Reader, want []byte) {
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))))
	if err != nil && err != ErrClosed {
		t.Error(err)
	}
	if !bytes.Equal(got, want[:len(got)]) {
		t.Errorf("%d bytes of another owner", len(got))
	}
}

// overwriteFreed writes to what has gone back.
func overwriteFreed(p *slab.Pool, n int) {
	for range 20 {
		if h, err := p.Get(n); err == nil {
			clear(h.Bytes())
			_ = h.Release()
		}
	}
}

// Two Reads at a time get bytes of their own.
func TestBodyReadBesideRead(t *testing.T) {
	b := bufferBody(t, openLine(t, ""), text(100_000))
	defer b.Close()
	var sum [4]int
	var all sync.WaitGroup
	for i := range sum {
		all.Go(func() {
			m := make([]byte, 100)
			for n, err := b.Read(m); err == nil; n, err = b.Read(m) {
				for _, c := range m[:n] {
					sum[i] += int(c)
				}
			}
		})
	}
	all.Wait()
	want := 0
	for _, c := range text(100_000) {
		want += int(c)
	}
	if got := sum[0] + sum[1] + sum[2] + sum[3]; got != want {
		t.Errorf("sum %d, not %d", got, want)
	}
}

// A copy of the handle that is released too early shows nothing of the next owner.
func TestBodyWhoseHandleWasReleased(t *testing.T) {
	p := openLine(t, "")
	h := filled(t, p, text(5000))
	b := check.Ok(NewBody(h))(t)
	check.Ok(io.ReadFull(b, make([]byte, 10)))(t)
	mustRelease(t, h)
	other := check.Ok(p.Get(5000))(t)
	if n, err := b.Read(make([]byte, 10)); n != 0 || err != slab.ErrReleased {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := b.WriteTo(io.Discard); n != 0 || err != slab.ErrReleased {
		t.Errorf("%d, %v", n, err)
	}
	if r, err := b.Another(); r != nil || err != slab.ErrReleased {
		t.Errorf("another reader: %v, %v", r, err)
	}
	b.Close()
	if _, err := b.Another(); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	if err := other.Release(); err != nil {
		t.Errorf("the next owner has lost its memory: %v", err)
	}
	checkNoneOut(t, p)
}

// A forgotten Body comes back on the Go heap, with the readers that nobody has closed.
func TestForgottenBodyComesBack(t *testing.T) {
	for name, open := range bodies {
		p := openLine(t, "device=heap")
		func() {
			b := open(t, p, text(100_000))
			check.Ok(b.Another())(t).Read(make([]byte, 10))
			check.Ok(b.Another())(t).Close()
		}()
		collected(t, name, func() bool {
			p.FreeHeld() // a cached block keeps its slab
			check.Ok(p.Get(1 << 20))(t).Release()
			return p.Stats().ActiveBlocks == 0
		})
	}
}

// Off the heap it comes back where bytes were handed out within Read alone, and else goes into
// quarantine.
func TestForgottenBodyOffTheHeap(t *testing.T) {
	for _, shown := range []bool{false, true} {
		p := openLine(t, "device=mmap,cache_bytes=0")
		func() {
			h := filled(t, p, text(100_000))
			if shown {
				h.Bytes()
			}
			b := check.Ok(NewBody(h))(t)
			b.Read(make([]byte, 10))
		}()
		collected(t, "a Body off the heap", func() bool { return p.Stats().Forgotten == 1 && p.Stats().ActiveBlocks == 0 })
		if held := p.Stats().HeldBytes; held < 100_000 != shown {
			t.Errorf("Bytes called: %v; %d bytes are held", shown, held)
		}
	}
}

// A reader that is kept after Close keeps nothing.
func TestClosedBodyKeepsNothing(t *testing.T) {
	p := openLine(t, "device=heap")
	b := bufferBody(t, p, text(100_000))
	b.Close()
	if b.memory.list != nil {
		t.Error("it has its segments still")
	}
}
