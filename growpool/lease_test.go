package growpool

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
)

func TestLeaseCountsLikeGet(t *testing.T) {
	p := open(t, Config{})
	for _, n := range []int{10, 10, 20, 5} {
		release(t, acquire[int64](t, p, "k", n))
	}
	wantStats(t, p, "k", KeyStats{Hits: 2, Misses: 1, Grows: 1, Bytes: 160})
	mustGet[int64](t, p, "k", 20)
	wantStats(t, p, "k", KeyStats{Hits: 3, Misses: 1, Grows: 1, Bytes: 160})
}

func TestReleaseEndsALeaseOnce(t *testing.T) {
	p := open(t, Config{})
	l := acquire[int64](t, p, "k", 10)
	if len(l.Slice()) != 10 || !l.Valid() {
		t.Fatal("no view")
	}
	release(t, l)
	if l.Slice() != nil || l.Valid() || l.Len() != 0 {
		t.Error("a released lease shows something")
	}
	other := acquire[int64](t, p, "k", 10)
	wantError(t, l.Release(), ErrReleased)
	_, err := Get[int](p, "k", 1)
	wantError(t, err, ErrLeased) // so the second Release has not ended the other's
	if !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("%v does not name the key", err)
	}
	release(t, other)
	mustGet[int64](t, p, "k", 1)
}

// Get does not hand out a leased buffer, although an earlier Get has shown it.
func TestGetOfALeasedKeyFails(t *testing.T) {
	p := open(t, Config{})
	mustGet[int64](t, p, "k", 10)
	l := acquire[int64](t, p, "k", 10)
	for _, shape := range [][]int{{10}, {2, 5}} {
		_, err := Get[int64](p, "k", shape...)
		wantError(t, err, ErrLeased)
	}
	release(t, l)
	mustGet[int64](t, p, "k", 10)
	wantStats(t, p, "k", KeyStats{Misses: 1, Hits: 2, Bytes: 80})
}

// What only leases have shown goes back before the larger buffer is taken.
func TestGrowOfAnAcquiredBufferNeverNeedsBoth(t *testing.T) {
	below := openSlab(t, "device=heap,strategy=direct")
	p := New[string](below, Config{})
	for n := 1000; n <= 10_000; n += 1000 {
		release(t, acquire[byte](t, p, "k", n))
	}
	if s := below.Stats(); s.PeakManagedBytes != 10_000 || s.ActiveBlocks != 1 || s.Forgotten != 0 {
		t.Errorf("%+v", s)
	}
	if u := p.MemoryUsage(); u.PeakBytes != 10_000 || u.HeldBytes != 10_000 {
		t.Errorf("%+v", u)
	}
	v := mustGet[byte](t, p, "k", 100) // from now on somebody may see it
	release(t, acquire[byte](t, p, "k", 11_000))
	if s := below.Stats(); s.ActiveBytes != 21_000 {
		t.Errorf("what Get has shown went back: %+v", s)
	}
	runtime.KeepAlive(v)
}

func TestAcquireWaitsFirstComeFirstServed(t *testing.T) {
	p := open(t, Config{})
	synctest.Test(t, func(t *testing.T) {
		l := acquire[int64](t, p, "k", 1)
		var order []int
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				l := acquire[int64](t, p, "k", 1+i)
				order = append(order, i)
				release(t, l)
			})
			synctest.Wait() // it stands in line
		}
		release(t, l)
		wg.Wait()
		for i, who := range order {
			if i != who {
				t.Fatalf("served in the order %v", order)
			}
		}
	})
	wantStats(t, p, "k", KeyStats{Misses: 1, Grows: 9, Hits: 1, Bytes: 80})
}

// T12 of docs/reports.md. While an Acquire waits to grow a buffer, its lease reads and writes its own memory. The larger
// buffer is made when the lease has ended, also if another goroutine ends it.
func TestALeaseBesideAGrowingAcquire(t *testing.T) {
	p := open(t, Config{})
	synctest.Test(t, func(t *testing.T) {
		l := acquire[byte](t, p, "k", 1000)
		device.Fill(l.Slice(), 7)
		grown := make(chan *Lease[byte])
		go func() {
			next := acquire[byte](t, p, "k", 5000)
			device.Fill(next.Slice(), 0xEE)
			grown <- next
		}()
		synctest.Wait() // it stands in line
		if s := l.Slice(); !l.Valid() || bytes.Count(s, []byte{7}) != 1000 {
			t.Errorf("%d bytes of the lease are as they were", bytes.Count(s, []byte{7}))
		}
		go func() { release(t, l) }()
		next := <-grown
		if l.Release() == nil || next.Len() != 5000 || !next.Valid() {
			t.Errorf("the next lease has %d elements", next.Len())
		}
		release(t, next)
	})
	wantStats(t, p, "k", KeyStats{Misses: 1, Grows: 1, Bytes: 5000})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	p := open(t, Config{})
	synctest.Test(t, func(t *testing.T) {
		l := acquire[int64](t, p, "k", 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Acquire[int](ctx, p, "k", 1)
		wantError(t, err, context.DeadlineExceeded)
		_, err = Acquire[int](ctx, p, "other", 1) // over before it began
		wantError(t, err, context.DeadlineExceeded)
		var wg sync.WaitGroup
		wg.Go(func() { release(t, acquire[int64](t, p, "k", 1)) }) // no one stands before it any more
		synctest.Wait()
		release(t, l)
		wg.Wait()
	})
	if _, ok := p.Stats()["other"]; ok {
		t.Error("a context that was over left a key")
	}
}

// A turn that comes at the same moment as the end of the context is passed on.
func TestTurnIsPassedOnWhenItComesTooLate(t *testing.T) {
	var q turn
	q.taken = true
	first, second := q.join(), q.join()
	q.pass()
	<-first
	q.leave(first)
	<-second
	q.pass()
	if q.taken || len(q.waiting) != 0 {
		t.Errorf("%+v", q)
	}
}

func TestCloseEndsWaiting(t *testing.T) {
	p := open(t, Config{})
	synctest.Test(t, func(t *testing.T) {
		l := acquire[int64](t, p, "k", 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := Acquire[int](t.Context(), p, "k", 1)
			wantError(t, err, ErrClosed)
		})
		synctest.Wait()
		if err := p.Close(); err == nil || !strings.Contains(err.Error(), "1 leases") {
			t.Error(err)
		}
		l.Slice()[0] = 1
		release(t, l)
		wg.Wait()
	})
	if u := p.MemoryUsage(); u.HeldBytes != 0 {
		t.Errorf("%+v", u)
	}
}

func TestPrivateBuffer(t *testing.T) {
	below := openSlab(t, "device=heap,strategy=direct")
	p := New[string](below, Config{Private: true})
	a := acquire[int64](t, p, "k", 100)
	b := acquire[int64](t, p, "k", 200)
	a.Slice()[0], b.Slice()[0] = 1, 2
	if a.Slice()[0] != 1 {
		t.Error("they share memory")
	}
	if u := p.MemoryUsage(); u.TotalBytes != 800 || u.HeldBytes != 2400 {
		t.Errorf("%+v", u)
	}
	release(t, b)
	if s := below.Stats(); s.ActiveBytes != 800 || s.ManagedBytes != 800 {
		t.Errorf("the private buffer did not go back: %+v", s)
	}
	release(t, a)
	wantStats(t, p, "k", KeyStats{Misses: 2, Bytes: 800})
}

// A private lease without elements takes no memory and no room in the budget, as that of a free key: it is a hit.
func TestPrivateLeasesOfNothing(t *testing.T) {
	below := openSlab(t, "")
	p := New[string](below, Config{MaxBytes: 4096, Private: true})
	t.Cleanup(func() { p.Close() })
	all := acquire[byte](t, p, "k", 4096)
	gets := below.Stats().Hits + below.Stats().Misses
	for range 100 {
		l := acquire[byte](t, p, "k", 3, 0)
		if l.Slice() == nil || !l.Valid() || l.Len() != 0 || len(l.Shape()) != 2 {
			t.Errorf("%v, %t, shape %v", l.Slice(), l.Valid(), l.Shape())
		}
		defer release(t, l)
	}
	if n := below.Stats().Hits + below.Stats().Misses; n != gets {
		t.Errorf("%d Gets", n-gets)
	}
	wantStats(t, p, "k", KeyStats{Hits: 100, Misses: 1, Bytes: 4096})
	release(t, all)
}

func TestNoRoomForALeaseLeavesTheTurn(t *testing.T) {
	p := New[string](openSlab(t, "device=heap,max_bytes=10000,strategy=direct"), Config{})
	_, err := Acquire[byte](t.Context(), p, "k", 20_000)
	wantError(t, err, device.ErrOutOfMemory)
	if len(p.Stats()) != 0 {
		t.Error("a key was made in vain")
	}
	release(t, acquire[byte](t, p, "k", 10_000))
}

// Sixteen goroutines on eight keys, each lease to its owner alone, with and
// without a budget, while somebody clears and looks.
func TestManyGoroutines(t *testing.T) {
	for name, c := range map[string]Config{
		"waiting": {}, "private": {Private: true}, "factor": {Growth: Factor(1.5)},
		"budget": {MaxBytes: 1 << 20}, "private budget": {Private: true, MaxBytes: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			below := openSlab(t, "device=heap")
			p := New[int](below, c)
			var served atomic.Int64
			var wg sync.WaitGroup
			for g := range 16 {
				wg.Go(func() { served.Add(stress(t, p, g)) })
			}
			wg.Wait()
			if s := p.Totals(); s.Hits+s.Misses+s.Grows != served.Load() {
				t.Errorf("%d requests were served: %+v", served.Load(), s)
			}
			if u := p.MemoryUsage(); c.MaxBytes > 0 && u.PeakBytes > c.MaxBytes || u.HeldBytes != u.TotalBytes {
				t.Errorf("%+v", u)
			}
			if err := p.Close(); err != nil || p.MemoryUsage().HeldBytes != 0 {
				t.Errorf("%v, %+v", err, p.MemoryUsage())
			}
			if s := below.Stats(); s.ActiveBlocks != 0 {
				t.Errorf("nothing but leases, and memory is out: %+v", s)
			}
		})
	}
}

func stress(t *testing.T, p *Pool[int], g int) (served int64) {
	r := rand.New(rand.NewPCG(uint64(g), 1))
	for i := range 300 {
		if g == 0 && i%50 == 49 {
			p.Clear()
			p.MemoryUsage()
		}
		l, err := Acquire[int](t.Context(), p, r.IntN(8), 1+r.IntN(4000))
		if err != nil {
			t.Errorf("goroutine %d: %v", g, err)
			return served
		}
		served++
		m := l.Slice()
		for k := range m {
			m[k] = g
		}
		for _, x := range m {
			if x != g {
				t.Errorf("goroutine %d has written where %d has a lease", x, g)
				return served
			}
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	return served
}

// Gets of one key from many goroutines are counted one by one.
func TestConcurrentGetsAreCountedExactly(t *testing.T) {
	p := open(t, Config{Growth: Pow2})
	const goroutines, each = 16, 2000
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				want := 1 + (i*g)%5000
				v, err := Get[byte](p, "k", want)
				// Others may have replaced its buffer by now.
				if err != nil || v.Len() != want || !invariants.Enabled && len(v.Slice()) != want {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := p.Stats()["k"]
	if s.Hits+s.Misses+s.Grows != goroutines*each || s.Misses != 1 || s.Grows > 13 || s.Bytes != 8192 {
		t.Errorf("%+v", s)
	}
}

// With releases what it has acquired, whatever f does.
func TestWithReleases(t *testing.T) {
	p := open(t, Config{})
	failed := errors.New("failed")
	wantError(t, With(t.Context(), p, "k", []int{10}, func(*Lease[byte]) error { return failed }), failed)
	func() {
		defer func() { _ = recover() }()
		_ = With(t.Context(), p, "k", []int{10}, func(*Lease[byte]) error { panic("f") })
	}()
	if err := With(t.Context(), p, "k", []int{10}, (*Lease[byte]).Release); err != nil {
		t.Error(err)
	}
	wantError(t, With(t.Context(), p, "k", nil, func(*Lease[byte]) error { panic("called") }), ErrShape)
	wantStats(t, p, "k", KeyStats{Hits: 2, Misses: 1, Bytes: 10})
	mustGet[byte](t, p, "k", 10) // no lease is out
}
