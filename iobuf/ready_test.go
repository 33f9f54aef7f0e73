package iobuf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A readable reads as ReadReady does of one end of a connection, of which the test has the other.
type readable struct {
	read func(ctx context.Context, p *slab.Pool, n int) (slab.PooledBuffer, error)
	here interface {
		io.Closer
		SetReadDeadline(time.Time) error
	}
	there io.WriteCloser
	idle  int64 // bytes that it holds while nothing comes
}

// readables are the ways to read.
var readables = map[string]func(t testing.TB) readable{
	"TCP": func(t testing.TB) readable {
		here, there := connected(t)
		return readable{func(ctx context.Context, p *slab.Pool, n int) (slab.PooledBuffer, error) {
			return ReadReady(ctx, here, p, n)
		}, here, there, idleBytes}
	},
	"a pipe": func(t testing.TB) readable {
		here, there, err := os.Pipe()
		check.Must(t, err)
		t.Cleanup(func() { here.Close(); there.Close() })
		return readable{func(ctx context.Context, p *slab.Pool, n int) (slab.PooledBuffer, error) {
			return ReadReady(ctx, here, p, n)
		}, here, there, idleBytes}
	},
	"ReadConn": func(t testing.TB) readable {
		here, there := connected(t)
		return readable{func(ctx context.Context, p *slab.Pool, n int) (slab.PooledBuffer, error) {
			return ReadConn(ctx, here, p, n)
		}, here, there, idleBytes}
	},
	"ReadConn of what does not tell": func(t testing.TB) readable {
		here, there := connected(t)
		wrapped := struct{ *net.TCPConn }{here}
		return readable{func(ctx context.Context, p *slab.Pool, n int) (slab.PooledBuffer, error) {
			return ReadConn(ctx, wrapped, p, n)
		}, here, there, pieceBytes}
	},
}

func everyReadable(t *testing.T, f func(t *testing.T, r readable, p *slab.Pool)) {
	for name, open := range readables {
		for _, line := range []string{"device=heap", "device=mmap"} {
			t.Run(name+","+line, func(t *testing.T) {
				p := openLine(t, line)
				r := open(t)
				if _, pipe := r.here.(*os.File); pipe && r.here.SetReadDeadline(time.Time{}) != nil {
					t.Skip("A pipe of this system has no deadlines, by which the end of a context wakes the read.")
				}
				f(t, r, p)
				checkNoneOut(t, p)
			})
		}
	}
}

func wantRead(t *testing.T, r readable, p *slab.Pool, n int, want []byte) {
	t.Helper()
	h := check.Ok(r.read(t.Context(), p, n))(t)
	if got := h.Bytes(); !bytes.Equal(got, want) || h.Len() != len(want) || h.Cap() < n {
		t.Errorf("%q of room %d, not %q of %d", got, h.Cap(), want, n)
	}
	mustRelease(t, h)
}

// A read takes what is there, up to n, and leaves the rest for the next. Then there is the end.
func TestReadReady(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		check.Ok(r.there.Write([]byte("hello, server")))(t)
		wantRead(t, r, p, 5, []byte("hello"))
		wantRead(t, r, p, 32<<10, []byte(", server"))
		check.Must(t, r.there.Close())
		for range 2 {
			if h, err := r.read(t.Context(), p, 10); err != io.EOF || h != none {
				t.Errorf("%v, %v", h, err)
			}
		}
	})
}

// All of a long text comes, and in order.
func TestReadReadyOfALot(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		go func() {
			r.there.Write(text(300_000))
			r.there.Close()
		}()
		var got bytes.Buffer
		for {
			h, err := r.read(t.Context(), p, 32<<10)
			if err == io.EOF {
				break
			}
			check.Must(t, err)
			got.Write(h.Bytes())
			mustRelease(t, h)
		}
		if !bytes.Equal(got.Bytes(), text(300_000)) {
			t.Errorf("%d other bytes", got.Len())
		}
	})
}

// A size below one is refused, and one that could not be cut without memory.
func TestReadReadyRefuses(t *testing.T) {
	sizes := []int{0, -1, math.MinInt}
	if large := int64(math.MaxUint32) + 1; int64(int(large)) == large { // not where an int has 32 bits
		sizes = append(sizes, int(large), math.MaxInt)
	}
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		check.Ok(r.there.Write([]byte("hello")))(t)
		for _, n := range sizes {
			if h, err := r.read(t.Context(), p, n); !errors.Is(err, slab.ErrSize) {
				t.Fatalf("%d bytes: %v, %v", n, h, err)
			}
		}
		wantRead(t, r, p, 5, []byte("hello"))
	})
}

// Without memory nothing is read, or what is read is returned. No byte is lost.
func TestReadReadyWithoutRoom(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		check.Ok(r.there.Write([]byte("hello")))(t)
		h, err := r.read(t.Context(), openLine(t, "max_bytes=1MiB"), 2<<20)
		if err == nil { // a connection that does not tell
			if r.idle != pieceBytes || string(h.Bytes()) != "hello" {
				t.Errorf("%q", h.Bytes())
			}
			mustRelease(t, h)
			return
		}
		if check.Wraps(t, err, device.ErrOutOfMemory); h != none || r.idle == pieceBytes {
			t.Error("a buffer and an error, or a piece that is lost")
		}
		closed := openLine(t, "")
		check.Must(t, closed.Close())
		check.Wraps(t, check.Err(r.read(t.Context(), closed, 10)), slab.ErrClosed)
		check.Wraps(t, check.Err(r.read(t.Context(), nil, 10)), slab.ErrClosed)
		far := openLine(t, "device=sim:64MiB")
		check.Wraps(t, check.Err(r.read(t.Context(), far, 10)), device.ErrUnavailable)
		checkNoneOut(t, far)
		wantRead(t, r, p, 10, []byte("hello"))
	})
}

// The budget is what the pool says; a read that found no room gets its bytes later.
func TestReadReadyWithinABudget(t *testing.T) {
	p := openPool(t, "heap", slab.Config{MaxBytes: 1 << 20})
	here, there := connected(t)
	check.Ok(there.Write([]byte("hello")))(t)
	all := check.Ok(p.Get(1<<20 - 4096))(t)
	check.Wraps(t, check.Err(ReadReady(t.Context(), here, p, 64<<10)), device.ErrOutOfMemory)
	mustRelease(t, all)
	h := check.Ok(ReadReady(t.Context(), here, p, 64<<10))(t)
	if string(h.Bytes()) != "hello" {
		t.Errorf("%q", h.Bytes())
	}
	mustRelease(t, h)
}

// The connection's own deadline ends a wait, and a Close does.
func TestReadReadyOfADeadline(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		for _, ctx := range []context.Context{t.Context(), context.Background()} {
			check.Must(t, r.here.SetReadDeadline(time.Now()))
			h, err := r.read(ctx, p, 10)
			if !errors.Is(err, os.ErrDeadlineExceeded) || h != none {
				t.Errorf("%v, %v", h, err)
			}
		}
		check.Must(t, r.here.SetReadDeadline(time.Time{}))
		check.Ok(r.there.Write([]byte("hello")))(t)
		wantRead(t, r, p, 10, []byte("hello"))
		check.Must(t, r.here.Close())
		h, err := r.read(t.Context(), p, 10)
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrClosed) || h != none {
			t.Errorf("%v, %v", h, err)
		}
	})
}

// A Close of a net.Pipe, which wraps nothing, is net.ErrClosed as well; the end of the other side is io.EOF.
func TestReadConnOfAClosedPipe(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	here, there := net.Pipe()
	check.Must(t, there.Close())
	if _, err := ReadConn(t.Context(), here, p, 10); err != io.EOF {
		t.Errorf("the other side is closed: %v", err)
	}
	check.Must(t, here.Close())
	check.Wraps(t, check.Err(ReadConn(t.Context(), here, p, 10)), net.ErrClosed, io.ErrClosedPipe)
	checkNoneOut(t, p)
}

// A nil context is never done.
func TestReadReadyOfNoContext(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		check.Ok(r.there.Write([]byte("hello")))(t)
		h, err := r.read(nil, p, 10)
		if err != nil || string(h.Bytes()) != "hello" {
			t.Fatalf("%v, %v", h, err)
		}
		mustRelease(t, h)
	})
}

// The end of a context, before or while a read waits, ends it. Nothing is read, and the connection
// goes on without a deadline.
func TestReadReadyOfAContextThatEnds(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		for _, early := range []bool{true, false} {
			ctx, cancel := context.WithCancelCause(t.Context())
			if early {
				cancel(errLost)
			} else {
				ctx = whenAsked{ctx, func() { cancel(errLost) }}
			}
			h, err := r.read(ctx, p, 10)
			check.Wraps(t, err, context.Canceled, errLost)
			if h != none {
				t.Error("a buffer and an error")
			}
			check.Ok(r.there.Write([]byte("hello")))(t)
			wantRead(t, r, p, 10, []byte("hello"))
		}
		ctx, cancel := context.WithDeadline(t.Context(), longAgo)
		defer cancel()
		check.Wraps(t, check.Err(r.read(ctx, p, 10)), context.DeadlineExceeded)
	})
}

// A whenAsked context calls a function as soon as somebody wants to wait for it, which ends it.
type whenAsked struct {
	context.Context
	end func()
}

func (c whenAsked) Done() <-chan struct{} {
	defer c.end()
	return c.Context.Done()
}

// A context that ends while bytes come loses none of them.
func TestReadReadyOfAContextThatEndsLate(t *testing.T) {
	for range 100 {
		p := openLine(t, "")
		here, there := connected(t)
		ctx, cancel := context.WithCancel(t.Context())
		go there.Write([]byte("hello"))
		go cancel()
		var got []byte
		for len(got) < 5 {
			h, err := ReadReady(ctx, here, p, 10)
			if err != nil {
				check.Wraps(t, err, context.Canceled)
				ctx = t.Context()
				continue
			}
			got = append(got, h.Bytes()...)
			mustRelease(t, h)
		}
		if string(got) != "hello" {
			t.Errorf("%q", got)
		}
		here.Close()
		there.Close()
	}
}

// A context that ends when the bytes have been read: they are returned.
func TestReadReadyOfAContextThatEndsAsBytesCome(t *testing.T) {
	p := openLine(t, "")
	here, there := connected(t)
	check.Ok(there.Write([]byte("hello")))(t)
	ctx, cancel := context.WithCancel(t.Context())
	h, err := untilDone(ctx, here, 10, func() (slab.PooledBuffer, error) {
		defer cancel()
		return ReadReady(t.Context(), here, p, 10)
	})
	if err != nil || string(h.Bytes()) != "hello" {
		t.Fatalf("%q, %v", h.Bytes(), err)
	}
	mustRelease(t, h)
}

// What was read before the pool was closed, or took all of it, is cut without memory.
func TestCutToOfAClosedPool(t *testing.T) {
	p := openLine(t, "max_bytes=4KiB")
	h := filled(t, p, text(4096))
	p.Close()
	h = check.Ok(cutTo(h, 10))(t)
	if !bytes.Equal(h.Bytes(), text(10)) {
		t.Errorf("%d bytes", h.Len())
	}
	mustRelease(t, h)
	checkNoneOut(t, p)
}

// A context that ended after the read touches no deadline.
func TestReadReadyLeavesTheDeadline(t *testing.T) {
	p := openLine(t, "")
	here, there := connected(t)
	check.Ok(there.Write([]byte("hello")))(t)
	check.Must(t, here.SetReadDeadline(time.Now().Add(time.Hour)))
	ctx, cancel := context.WithCancel(t.Context())
	spy := &deadlines{TCPConn: here}
	mustRelease(t, check.Ok(ReadReady(ctx, spy, p, 10))(t))
	cancel()
	if spy.set != 0 {
		t.Errorf("%d deadlines were set", spy.set)
	}
}

// A deadlines counts the deadlines that were set.
type deadlines struct {
	*net.TCPConn
	set int
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set++
	return d.TCPConn.SetReadDeadline(at)
}

// A Conn without a descriptor, or one that fails, is an error.
type noConn struct{ err error }

func (c noConn) SyscallConn() (syscall.RawConn, error) { return nil, c.err }

func TestReadReadyOfNoConnection(t *testing.T) {
	err := check.Err(ReadReady(t.Context(), noConn{errLost}, openLine(t, ""), 10))
	if !errors.Is(err, errLost) && !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// A connection without deadlines is not woken, and loses nothing at the end of a context.
func TestReadReadyWithoutDeadlines(t *testing.T) {
	p := openLine(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	h, err := untilDone(ctx, noConn{}, 10, func() (slab.PooledBuffer, error) {
		cancel()
		return p.Get(10)
	})
	check.Must(t, err)
	mustRelease(t, h)
}

// A read of 4 GiB less a byte is tried: so much can be cut without memory.
func TestReadReadyOfTheMostBytes(t *testing.T) {
	most := int64(math.MaxUint32)
	if int64(int(most)) != most {
		t.Skip("an int has 32 bits")
	}
	if err := check.Err(untilDone(t.Context(), noConn{}, int(most), func() (slab.PooledBuffer, error) {
		return none, errLost
	})); err != errLost {
		t.Error(err)
	}
}

// A piece is as the Reader gave it. What it says with an error, or wrongly, is found.
func TestReadPiece(t *testing.T) {
	p := openLine(t, "")
	for _, n := range []int{1, 10, 512, 513, 32 << 10} {
		r := iotest.DataErrReader(bytes.NewReader(text(400)))
		h := check.Ok(readPiece(r, p, n))(t)
		if !bytes.Equal(h.Bytes(), text(400)[:min(n, 400)]) || h.Cap() < n {
			t.Errorf("%d bytes, room for %d", h.Len(), h.Cap())
		}
		mustRelease(t, h)
	}
	check.Wraps(t, check.Err(readPiece(iotest.ErrReader(errLost), p, 10)), errLost)
	r := iotest.DataErrReader(bytes.NewReader(text(1)))
	mustRelease(t, check.Ok(readPiece(r, p, 10))(t))
	for empty, want := range map[int]error{mostEmpty - 1: nil, mostEmpty: io.ErrNoProgress} {
		r := &cut{of: bytes.NewReader(text(10)), sizes: make([]int, empty+1)}
		r.sizes[0] = 10 // comes last
		h, err := readPiece(r, p, 10)
		if err != want || r.at != min(empty+1, mostEmpty) {
			t.Errorf("%d Reads, of which the first %d bring nothing: %v", r.at, empty, err)
		}
		_ = h.Release() // or there is none
	}
	check.Panics(t, "a liar", func() { readPiece(liar(-1), p, 10) })
	check.Panics(t, "a liar", func() { readPiece(liar(513), p, 1000) })
	checkNoneOut(t, p)
}

// A forgotten buffer of a read comes back off the heap, too: no slice of it was handed out.
func TestForgottenReadComesBack(t *testing.T) {
	everyReadable(t, func(t *testing.T, r readable, p *slab.Pool) {
		check.Ok(r.there.Write([]byte("hello")))(t)
		func() { check.Ok(r.read(t.Context(), p, 64<<10))(t) }()
		collected(t, "a buffer of a read", func() bool {
			p.FreeHeld()
			return p.Stats().ActiveBlocks == 0
		})
		if s := p.Stats(); s.UnusableBytes != 0 {
			t.Errorf("quarantine: %+v", s)
		}
	})
}
