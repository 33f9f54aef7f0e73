package growpool

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// acquireLater calls Acquire on a goroutine, and returns when that waits for memory.
func acquireLater(t *testing.T, ctx context.Context, p *Pool[string], key string, n int) <-chan error {
	t.Helper()
	before := p.slab.Stats().Waits
	c := make(chan error, 1)
	go func() {
		l, err := Acquire[byte](ctx, p, key, n)
		if err == nil {
			if l.Slice()[0] = 1; l.Len() != n || !l.Valid() {
				t.Errorf("%d of %d bytes", l.Len(), n)
			}
			err = l.Release()
		}
		c <- err
	}()
	until(t, "the call waits", func() bool { return p.slab.Stats().Waits > before || len(c) > 0 })
	if len(c) > 0 {
		t.Fatal("it did not wait: ", <-c)
	}
	return c
}

func until(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !yes(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("not in 30 s: ", what)
		}
	}
}

// A lease that ends makes room for one of another key, though the key keeps its buffer.
func TestAcquireWaitsForMemory(t *testing.T) {
	for name, c := range map[string]Config{"no budget": {}, "budget": {MaxBytes: 4 << 20}, "private": {Private: true}, "growing": {Growth: Pow2}} {
		t.Run(name, func(t *testing.T) {
			p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact"), c)
			a := acquire[byte](t, p, "a", 500_000)
			other := acquire[byte](t, p, "b", 100_000)
			waits := acquireLater(t, t.Context(), p, "c", 700_000)
			if _, err := Get[byte](p, "c", 1); !errors.Is(err, ErrLeased) {
				t.Errorf("Get of a key that waits: %v", err)
			}
			release(t, a)
			if err := <-waits; err != nil {
				t.Fatal(err)
			}
			release(t, other)
			wantStats(t, p, "c", KeyStats{Misses: 1, Bytes: p.Stats()["c"].Bytes})
		})
	}
}

// A key that grows has given its buffer up before it waits.
func TestAGrowWaitsWithoutItsOldBuffer(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact"), Config{})
	release(t, acquire[byte](t, p, "a", 500_000))
	b := acquire[byte](t, p, "b", 400_000)
	waits := acquireLater(t, t.Context(), p, "a", 1_000_000)
	release(t, b)
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	wantStats(t, p, "a", KeyStats{Misses: 1, Grows: 1, Bytes: 1_000_000})
}

// A context that is done ends the wait, with what was missing, and the key is free.
func TestACancelledAcquireChangesNothing(t *testing.T) {
	for name, c := range map[string]Config{"no budget": {}, "budget": {MaxBytes: 4 << 20}} {
		t.Run(name, func(t *testing.T) {
			p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact"), c)
			defer p.Close()
			release(t, acquire[byte](t, p, "a", 100_000))
			b := acquire[byte](t, p, "b", 800_000)
			before, held := p.Stats(), p.MemoryUsage().HeldBytes
			ctx, cancel := context.WithCancel(t.Context())
			waits := acquireLater(t, ctx, p, "a", 500_000)
			cancel()
			err := <-waits
			var w *slab.WaitError
			if !errors.As(err, &w) || !errors.Is(err, context.Canceled) || !errors.Is(err, device.ErrOutOfMemory) {
				t.Error(err)
			}
			if s := p.Stats(); s["a"] != before["a"] || s["b"] != before["b"] || p.MemoryUsage().HeldBytes != held {
				t.Errorf("%+v, before %+v", s, before)
			}
			release(t, b)
			release(t, acquire[byte](t, p, "a", 500_000))
		})
	}
}

// A private lease counts also if its key was let go of while it waited.
func TestAWaitThatOutlivesItsKeyCounts(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact"), Config{MaxBytes: 4 << 20, Private: true})
	defer p.Close()
	a, other := acquire[byte](t, p, "a", 300_000), acquire[byte](t, p, "b", 700_000)
	waits := acquireLater(t, t.Context(), p, "a", 500_000)
	release(t, a)
	until(t, "the key is let go of", func() bool { return p.table.find("a") == nil })
	release(t, other)
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	if s := p.Totals(); s.Misses != 3 {
		t.Errorf("%+v", s)
	}
}

func TestCloseEndsAWaitForMemory(t *testing.T) {
	below := openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact")
	p := New[string](below, Config{})
	a := acquire[byte](t, p, "a", 800_000)
	closeBesideAWait(t, p, a, "b")
	if s := below.Stats(); s.ActiveBytes != 0 || s.Waiters != 0 {
		t.Errorf("%+v", s)
	}
}

// closeBesideAWait closes a Pool while key waits for what a has, which is released then.
func closeBesideAWait(t *testing.T, p *Pool[string], a *Lease[byte], key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // where Close does not end the wait
	defer cancel()
	waits := acquireLater(t, ctx, p, key, 800_000)
	if err := p.Close(); err == nil {
		t.Error("a lease was out")
	}
	if err := <-waits; !errors.Is(err, ErrClosed) || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
	release(t, a)
}

// A key that waits to grow gets nothing back once the Pool is closed.
func TestCloseEndsAWaitToGrow(t *testing.T) {
	for _, shown := range []bool{false, true} {
		below := openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact")
		p := New[string](below, Config{})
		a := acquire[byte](t, p, "a", 800_000)
		if shown {
			mustGet[byte](t, p, "b", 100_000)
		} else {
			release(t, acquire[byte](t, p, "b", 100_000))
		}
		closeBesideAWait(t, p, a, "b")
		if u := p.MemoryUsage(); u.HeldBytes != 0 || below.Stats().ActiveBytes != u.LeftBytes {
			t.Errorf("shown %v: %+v, %d bytes out", shown, u, below.Stats().ActiveBytes)
		}
	}
}

// Who waits may get memory just when the Pool is closed: it goes back.
func TestMemoryThatComesAfterCloseGoesBack(t *testing.T) {
	heap, err := device.Open("heap")
	if err != nil {
		t.Fatal(err)
	}
	var p *Pool[string]
	var closes atomic.Bool
	below, err := slab.Open(disturbed{heap, func() { p.closed.Store(closes.Load()) }}, slab.Config{Strategy: "direct", MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	p = New[string](below, Config{})
	a := acquire[byte](t, p, "a", 800)
	waits := acquireLater(t, t.Context(), p, "b", 800)
	closes.Store(true)
	release(t, a)
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if s := below.Stats(); s.ActiveBlocks != 0 {
		t.Errorf("%+v", s)
	}
}

// Many keys, of two pools, on memory for a few: all go on.
func TestManyKeysWaitForLittle(t *testing.T) {
	for name, c := range map[string]Config{"no budget": {}, "budget": {MaxBytes: 1 << 20}, "private": {Private: true}} {
		t.Run(name, func(t *testing.T) {
			below := openSlab(t, "device=mmap,max_bytes=1MiB")
			pools := []*Pool[int]{New[int](below, c), New[int](below, c)}
			var all sync.WaitGroup
			for g := range 16 {
				all.Go(func() {
					for i := range 60 {
						l, err := Acquire[byte](t.Context(), pools[g%2], (g+i)%5, 1+(i*37+g*91)%400*1000)
						if c.MaxBytes > 0 && errors.As(err, new(*BudgetError)) {
							continue
						}
						if err != nil {
							t.Error(err)
							return
						}
						l.Slice()[0]++
						release(t, l)
					}
				})
			}
			all.Wait()
			if s := below.Stats(); s.Waiters != 0 {
				t.Errorf("%+v", s)
			}
			for _, p := range pools {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A lease that waited while the pool stopped holding goes back whole.
func TestStopHoldingBesideAWait(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB,strategy=exact"), Config{})
	a := acquire[byte](t, p, "a", 1<<20)
	waits := acquireLater(t, t.Context(), p, "k", 500_000)
	p.StopHolding()
	release(t, a)
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	if u, s := p.MemoryUsage(), p.slab.Stats(); u.HeldBytes != 0 || len(u.Keys) != 0 || s.ActiveBytes != 0 || s.ManagedBytes != 0 {
		t.Errorf("%+v, %d bytes out, %d managed", u, s.ActiveBytes, s.ManagedBytes)
	}
}
