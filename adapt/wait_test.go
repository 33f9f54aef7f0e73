package adapt_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// With Wait a server's Get waits for room, for as long as it says, and makes a buffer after that.
func TestWaitComesBeforeMake(t *testing.T) {
	for name, open := range map[string]func(*slab.Pool) (get func() []byte, put func([]byte), made func() int64){
		"GRPC": func(p *slab.Pool) (func() []byte, func([]byte), func() int64) {
			g := adapt.GRPC(p, adapt.Wait(time.Second))
			return func() []byte { return *g.Get(size) }, func(b []byte) { g.Put(&b) }, g.Made
		},
		"HTTP": func(p *slab.Pool) (func() []byte, func([]byte), func() int64) {
			h := adapt.HTTP(p, size, adapt.Wait(time.Second))
			return h.Get, h.Put, h.Made
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := slab.MustOpen("device=mmap,max_bytes=64KiB,idle=keep")
			defer p.Close()
			get, put, made := open(p)
			first, began := get(), time.Now()
			second := get() // there is no room
			if n, s := made(), p.Stats(); n != 1 || s.OverflowBlocks != 1 || s.OverflowBytes != size || time.Since(began) != time.Second {
				t.Errorf("%s: %d made after %v, %v", name, n, time.Since(began), s)
			}
			put(second)
			got := make(chan []byte)
			go func() { got <- get() }()
			synctest.Wait()
			put(first)
			third := <-got
			if n := made(); n != 1 || time.Since(began) != time.Second || p.Stats().OverflowBlocks != 0 {
				t.Errorf("%s: %d made after %v, %v", name, n, time.Since(began), p.Stats())
			}
			put(third)
			even(t, name, p)
		})
	}
}

// Arrow waits, too: Allocate panics after that, and Reallocate copies where Grow would need to wait.
func TestArrowWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slab.MustOpen("device=mmap,max_bytes=128KiB,idle=keep")
		defer p.Close()
		a := adapt.Arrow(p, adapt.Wait(time.Second))
		began := time.Now()
		b, other := a.Allocate(40<<10), a.Allocate(80<<10)
		var wait *slab.WaitError
		if err, _ := panics(t, func() { a.Allocate(80 << 10) }).(error); !errors.As(err, &wait) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		copy(b, "columns")
		got := make(chan []byte)
		go func() { got <- a.Reallocate(60<<10, b) }()
		synctest.Wait()
		a.Free(other)
		b = <-got
		if string(b[:7]) != "columns" || len(b) != 60<<10 || time.Since(began) != time.Second {
			t.Errorf("%q, %d bytes, after %v", b[:7], len(b), time.Since(began))
		}
		a.Free(b)
		even(t, "Arrow", p)
	})
}

func TestWaitNeedsATime(t *testing.T) {
	for _, most := range []time.Duration{0, -1} {
		panics(t, func() { adapt.Wait(most) })
	}
	adapt.Wait(1)
}

// A Get with room makes no timer: it allocates only what says how long it would wait.
func TestWaitCostsLittle(t *testing.T) {
	h := adapt.HTTP(open(t, ""), 4096, adapt.Wait(time.Second))
	if n := check.Allocs(1000, func() { h.Put(h.Get()) }); n >= 2 && !instrumented {
		t.Errorf("%v allocations", n)
	}
}

// Get of the storage client waits until ctx is done, TryGet does not wait, and neither makes a buffer.
func TestGoogleStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slab.MustOpen("device=mmap,max_bytes=64KiB,idle=keep")
		defer p.Close()
		g := adapt.GoogleStorage(p)
		first := check.Ok(g.Get(t.Context(), 64<<10))(t)
		if _, err := g.TryGet(1); !errors.Is(err, device.ErrOutOfMemory) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := g.Get(ctx, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := g.Get(t.Context(), 1<<20); !errors.Is(err, device.ErrOutOfMemory) || time.Since(began) != time.Second {
			t.Errorf("more than the bound: %v after %v", err, time.Since(began))
		}
		if _, err := g.Get(t.Context(), -1); !errors.Is(err, slab.ErrSize) {
			t.Error(err)
		}
		got := make(chan []byte)
		go func() { got <- check.Ok(g.Get(t.Context(), 64<<10))(t) }()
		synctest.Wait()
		g.Put(first)
		g.Put(<-got)
		even(t, "GoogleStorage", p)
	})
}
