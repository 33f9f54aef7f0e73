package growpool

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A lateBench is a keyed pool on a simulated device that works late.
type lateBench struct {
	t    *testing.T
	slab *slab.Pool
	pool *Pool[string]
	on   [2]*sim.Stream
}

func newLateBench(t *testing.T, c Config) *lateBench {
	t.Helper()
	b := &lateBench{t: t, slab: openSlab(t, "device=sim:64MiB:late=1")}
	b.pool = New[string](b.slab, c)
	t.Cleanup(func() { b.pool.Close() }) // of a pool that is only forgotten the cache may run on for a while
	for i := range b.on {
		s, err := b.slab.Device().NewStream()
		if err != nil {
			t.Fatal(err)
		}
		b.on[i] = s.(*sim.Stream)
	}
	return b
}

func (b *lateBench) must(errs ...error) {
	b.t.Helper()
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
}

const copies, copyBytes = 100, 1000

// copyAll has each of 100 leases of a key, in turns on two streams, write a number to device memory
// and copy it from there. It returns how many copies are wrong.
func (b *lateBench) copyAll(lease func(s device.Stream, n int) (*Lease[byte], error), usedOn bool) (wrong int) {
	b.t.Helper()
	to := make([][]byte, copies)
	for i := range to {
		s := b.on[i%2]
		l, err := lease(s, copyBytes)
		b.must(err)
		to[i] = make([]byte, copyBytes)
		from := l.Block()
		from.Len = copyBytes
		b.must(s.Fill(from, byte(i)), s.Copy(device.Host(to[i]), from))
		if usedOn {
			b.must(l.UsedOn(s))
		}
		b.must(l.Release())
	}
	b.must(b.on[0].Sync(), b.on[1].Sync())
	for i, m := range to {
		if !bytes.Equal(m, bytes.Repeat([]byte{byte(i)}, copyBytes)) {
			wrong++
		}
	}
	return wrong
}

func (b *lateBench) acquire(_ device.Stream, n int) (*Lease[byte], error) {
	return Acquire[byte](b.t.Context(), b.pool, "k", n)
}

func (b *lateBench) acquireOn(s device.Stream, n int) (*Lease[byte], error) {
	return AcquireOn[byte](b.t.Context(), b.pool, "k", s, n)
}

// A lease may be released as soon as its work is enqueued: the next owner of the key comes after it.
func TestReleaseBeforeTheWorkIsDone(t *testing.T) {
	for name, c := range map[string]Config{"kept": {}, "private": {Private: true}, "budget": {MaxBytes: 1 << 20}} {
		b := newLateBench(t, c)
		if n := b.copyAll(b.acquire, true); n != 0 {
			t.Errorf("%s, Acquire: %d of %d copies are wrong", name, n, copies)
		}
		if n := b.copyAll(b.acquireOn, false); n != 0 {
			t.Errorf("%s, AcquireOn: %d of %d copies are wrong", name, n, copies)
		}
		if n := b.pool.Stats()["k"]; n.Misses > 1 {
			t.Errorf("%s: the key lost its buffer: %+v", name, n)
		}
	}
}

// The same without UsedOn is wrong, or the test above shows nothing.
func TestReleaseWithoutUsedOnIsWrong(t *testing.T) {
	b := newLateBench(t, Config{})
	if n := b.copyAll(b.acquire, false); n == 0 {
		t.Error("all copies are right")
	}
}

// Memory that its key loses while streams use it is for no other owner before they are done.
func TestMemoryThatTheKeyLosesWaitsForStreams(t *testing.T) {
	size := copyBytes
	for name, lose := range map[string]func(b *lateBench){
		"grow":  func(*lateBench) { size++ },
		"clear": func(b *lateBench) { b.pool.Clear() },
		"stop":  func(b *lateBench) { b.pool.StopHolding() },
	} {
		b := newLateBench(t, Config{})
		lease := func(s device.Stream, _ int) (*Lease[byte], error) {
			l, err := b.acquire(s, size)
			lose(b)
			return l, err
		}
		if n := b.copyAll(lease, true); n != 0 {
			t.Errorf("%s: %d of %d copies are wrong", name, n, copies)
		}
	}
}

// A buffer that streams use is not handed out without a lock, whatever comes between a look and the
// moment it is shown.
func TestABufferInUseIsNotShown(t *testing.T) {
	p := open(t, Config{})
	v := mustGet[byte](t, p, "k", 10)
	s := newGated()
	if err := v.UsedOn(s); err != nil {
		t.Fatal(err)
	}
	if v.of.show(wordOf[byte]()); v.of.word != nil {
		t.Error("Get finds it")
	}
	close(s.gate.open)
	mustGet[byte](t, p, "k", 10)
	if v.of.word == nil {
		t.Error("Get does not find it any more")
	}
}

// On the stream of the lease before, AcquireOn has the memory before the work is done; on another one,
// too, which waits. Neither has the caller wait.
func TestAcquireOnDoesNotWait(t *testing.T) {
	const long = time.Hour
	b := newLateBench(t, Config{})
	first, err := b.acquireOn(b.on[0], 100)
	b.must(err)
	at := first.Block()
	b.must(b.on[0].Launch(long, func(...[]byte) {}, at), first.Release())
	for _, s := range b.on {
		l, err := b.acquireOn(s, 100)
		b.must(err)
		if now := b.slab.Device().(*sim.Device).Clock(); l.Block() != at || now > long {
			t.Errorf("another block: %v, it is %v", l.Block() != at, now)
		}
		b.must(s.Fill(at, 2), l.Release())
	}
}

// A gate is an event that the test ends.
type gate struct {
	device.Event
	open chan struct{}
}

func (g gate) Sync() error { <-g.open; return nil }

func (g gate) Done() bool {
	select {
	case <-g.open:
		return true
	default:
		return false
	}
}

// A gated stream records that gate.
type gated struct {
	device.Stream
	gate gate
}

func (s gated) Record() (device.Event, error) { return s.gate, nil }

func newGated() gated { return gated{gate: gate{open: make(chan struct{})}} }

// useFor has a lease of a key used on a stream whose work does not end until the test says so.
func useFor(t *testing.T, p *Pool[string], key string) gated {
	t.Helper()
	s := newGated()
	l := acquire[byte](t, p, key, 100)
	if err := errors.Join(l.UsedOn(s), l.UsedOn(s), l.Release()); err != nil {
		t.Fatal(err)
	}
	return s
}

// A context that is done ends the wait for a stream, and so does Close. Nothing has changed: the key
// keeps its buffer and its counts, and the next owner waits again.
func TestAWaitForAStreamEnds(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap"), Config{})
	s := useFor(t, p, "k")
	before := p.Stats()["k"]
	_, err := Acquire[byte](newImpatient(t), p, "k", 100)
	wantError(t, err, context.Canceled)
	wantStats(t, p, "k", before)
	done := make(chan error)
	go func() {
		_, err := Acquire[byte](context.Background(), p, "k", 100)
		done <- err
	}()
	until(t, "the call waits for the stream", func() bool {
		_, err := Get[byte](p, "j", 1)
		e := p.table.find("k")
		defer e.mu.Unlock()
		e.mu.Lock()
		return e.turn.taken && err == nil
	})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, <-done, ErrClosed)
	close(s.gate.open)
}

// Get waits for the work of leases and Views before it, and holds no lock meanwhile.
func TestGetWaitsForStreams(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap"), Config{})
	defer p.Close()
	for _, use := range []func() gated{
		func() gated { return useFor(t, p, "k") },
		func() gated {
			s := newGated()
			if err := mustGet[byte](t, p, "k", 100).UsedOn(s); err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		s := use()
		done := make(chan error)
		go func() {
			_, err := Get[byte](p, "k", 50)
			done <- err
		}()
		for range 100 {
			runtime.Gosched()
			p.Stats() // which takes the lock of each key
		}
		select {
		case err := <-done:
			t.Fatal("it has not waited: ", err)
		default:
		}
		close(s.gate.open)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	n := check.Allocs(100, func() { mustGet[byte](t, p, "k", 50) })
	if n != 0 && !sanitized { // the address sanitizer allocates
		t.Errorf("a hit after all streams allocates %v times", n)
	}
}

func TestUsedOnErrors(t *testing.T) {
	p := open(t, Config{})
	s := newGated()
	l := acquire[byte](t, p, "k", 10)
	v := l.View
	wantError(t, l.UsedOn(nil), device.ErrUnavailable)
	release(t, l)
	wantError(t, l.UsedOn(s), ErrReleased)
	wantError(t, (*Lease[byte])(nil).UsedOn(s), ErrReleased)
	wantError(t, new(Lease[byte]).UsedOn(s), ErrReleased)
	wantError(t, View[byte]{}.UsedOn(s), ErrReleased)
	wantError(t, v.UsedOn(nil), device.ErrUnavailable)
	_, err := AcquireOn[byte](t.Context(), p, "k", nil, 10)
	wantError(t, err, device.ErrUnavailable)
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 10})
}

// A stream that cannot record has Release wait, and is forgotten then. One that cannot wait for
// another is the error of AcquireOn, and the key stays as it was.
func TestStreamsThatFail(t *testing.T) {
	b := newLateBench(t, Config{})
	l, err := b.acquire(nil, 100)
	b.must(err, l.UsedOn(b.on[0]), b.on[0].Close(), l.Release())
	if e := b.pool.table.find("k"); len(e.cur.Load().uses.list) != 0 {
		t.Error("a closed stream is waited for")
	}
	l, err = b.acquireOn(b.on[1], 100)
	b.must(err, b.on[1].Launch(time.Hour, func(...[]byte) {}, l.Block()), l.Release())
	before := b.pool.Stats()["k"]
	_, err = b.acquireOn(b.on[0], 100)
	wantError(t, err, device.ErrClosed)
	wantStats(t, b.pool, "k", before)
}

// A stream of another device is the error of AcquireOn, and no request that succeeded, also where the key has a buffer.
func TestAcquireOnOfAForeignStream(t *testing.T) {
	b := newLateBench(t, Config{})
	foreign := check.Ok(check.Ok(device.Open("sim:1MiB"))(t).NewStream())(t)
	_, err := b.acquireOn(foreign, 100)
	wantError(t, err, device.ErrUnavailable)
	l, err := b.acquire(nil, 100)
	b.must(err, l.Release())
	for _, n := range []int{100, 10} {
		_, err = b.acquireOn(foreign, n)
		wantError(t, err, device.ErrUnavailable)
	}
	wantStats(t, b.pool, "k", KeyStats{Misses: 1, Bytes: 100})
	l, err = b.acquireOn(b.on[0], 100)
	b.must(err, l.Release())
	wantStats(t, b.pool, "k", KeyStats{Hits: 1, Misses: 1, Bytes: 100})
}

// UsedOn beside Release is either in time, or is told that it is not.
func TestUsedOnBesideRelease(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap"), Config{})
	defer p.Close()
	for range 200 {
		s := newGated()
		close(s.gate.open)
		l := acquire[byte](t, p, "k", 100)
		done := make(chan error)
		go func() { done <- l.UsedOn(s) }()
		release(t, l)
		if err := <-done; err != nil && !errors.Is(err, ErrReleased) {
			t.Fatal(err)
		}
	}
}
