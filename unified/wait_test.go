package unified_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// tight returns a pool with a budget for each side, and the slab pools of both.
func tight(t testing.TB, maxBytes int64) (p *unified.Pool, host, dev *slab.Pool) {
	host = slabOn(t, heap(t), slab.Config{Strategy: "exact", MaxBytes: maxBytes})
	dev = slabOn(t, sim.New(1<<20), slab.Config{Strategy: "exact", MaxBytes: maxBytes})
	return unified.NewPoolOn(host, dev, unified.PoolConfig{}), host, dev
}

// acquireLater calls AcquireContext on a goroutine, and returns when that waits for memory of a pool.
func acquireLater(t testing.TB, ctx context.Context, p *unified.Pool, of *slab.Pool, n int) <-chan error {
	t.Helper()
	c := make(chan error, 1)
	go func() {
		b, err := unified.AcquireContext[byte](ctx, p, n)
		if err == nil {
			err = b.Release()
		}
		c <- err
	}()
	for of.Stats().Waiters == 0 {
		if runtime.Gosched(); len(c) > 0 {
			t.Fatal("it did not wait: ", <-c)
		}
	}
	return c
}

// A buffer of AcquireContext has the memory of both sides: no access fails for want of room.
func TestAcquireContextTakesBothSides(t *testing.T) {
	p, host, dev := tight(t, 1000)
	for range 2 { // a new one, and a kept one
		b := check.Ok(unified.AcquireContext[byte](t.Context(), p, 10, 100))(t)
		if h, d := host.Stats().ActiveBytes, dev.Stats().ActiveBytes; h != 1000 || d != 1000 {
			t.Errorf("the host has %d bytes, the device %d", h, d)
		}
		bothSides(t, b)
		check.Must(t, b.Release())
	}
	if s := p.Stats(); s.CacheHits != 1 || s.CacheMisses != 1 {
		t.Errorf("%+v", s)
	}
	check.Must(t, check.Ok(unified.AcquireContext[byte](t.Context(), p, 0))(t).Release()) // of nothing
	var never context.Context                                                             // nil
	check.Must(t, check.Ok(unified.AcquireContext[byte](never, p, 5))(t).Release())
}

// It waits for the side that has no room.
func TestAcquireContextWaits(t *testing.T) {
	for side := range 2 {
		p, host, dev := tight(t, 1000)
		of := []*slab.Pool{host, dev}[side]
		other := check.Ok(of.Get(1000))(t)
		c := acquireLater(t, t.Context(), p, of, 1000)
		check.Must(t, other.Release(), <-c)
	}
}

// A buffer that another call releases makes room, though the pool keeps it.
func TestAcquireContextHasWhatIsReleased(t *testing.T) {
	p, _, dev := tight(t, 1000)
	b := check.Ok(unified.AcquireContext[byte](t.Context(), p, 600))(t)
	c := acquireLater(t, t.Context(), p, dev, 1000)
	check.Must(t, b.Release(), <-c)
}

// A ctx that is done ends the wait. Nothing is out then, and nothing was counted.
func TestACancelledAcquireContextTakesNothing(t *testing.T) {
	for side := range 2 {
		p, host, dev := tight(t, 1000)
		of := []*slab.Pool{host, dev}[side]
		other := check.Ok(of.Get(400))(t)
		wantCancelled(t, p, of, 700)
		check.Must(t, other.Release())
		if n := host.Stats().ActiveBytes + dev.Stats().ActiveBytes; n != 0 || p.Stats() != (unified.PoolStats{}) {
			t.Errorf("%d bytes are out, %+v", n, p.Stats())
		}
	}
}

// wantCancelled has a call wait for memory of a pool, and ends that.
func wantCancelled(t *testing.T, p *unified.Pool, of *slab.Pool, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := acquireLater(t, ctx, p, of, n)
	cancel()
	err := <-c
	var w *slab.WaitError
	check.Wraps(t, err, context.Canceled, device.ErrOutOfMemory)
	if !errors.As(err, &w) {
		t.Errorf("%v is no WaitError", err)
	}
	check.Wraps(t, check.Err(unified.AcquireContext[byte](ctx, p, 1)), context.Canceled)
}

// A kept buffer that a cancelled call has taken is kept again, with its contents, on the side that has
// them.
func TestACancelledAcquireContextPutsBack(t *testing.T) {
	for side := range 2 {
		p, host, dev := tight(t, 1000)
		b := acquired[byte](t, p, 500)
		of := dev
		if side == 0 {
			check.Must(t, b.Fill(7))
		} else {
			of = host
			writeDevice(t, dev.Device(), b, bytes.Repeat([]byte{7}, 500)...)
		}
		check.Must(t, b.Release())
		before := p.Stats()
		other := check.Ok(of.Get(700))(t)
		wantCancelled(t, p, of, 500)
		if now := p.Stats(); now != before {
			t.Errorf("%+v, before %+v", now, before)
		}
		check.Must(t, other.Release())
		wantHost(t, acquired[byte](t, p, 500), 7, 7)
	}
}

// Both sides of one budget: calls that have one side each do not wait for each other.
func TestAcquireContextsDoNotWaitForEachOther(t *testing.T) {
	both := slabOn(t, heap(t), slab.Config{Strategy: "exact", MaxBytes: 2500})
	p := unified.NewPoolOn(both, both, unified.PoolConfig{MaxBuffers: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				b, err := unified.AcquireContext[byte](ctx, p, 1000)
				if err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
				check.Must(t, b.Release())
			}
		})
	}
	wg.Wait()
}

// A call that waits for its turn has nothing in hand: the call that has the turn needs it.
func TestAcquireContextWaitsForItsTurnWithNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := slabOn(t, heap(t), slab.Config{Strategy: "exact", MaxBytes: 2000})
		p := unified.NewPoolOn(both, both, unified.PoolConfig{MaxBuffers: -1})
		other := check.Ok(both.Get(600))(t)
		first := acquireLater(t, t.Context(), p, both, 1000)
		synctest.Wait()                                      // with one side in hand, for the other
		second := acquireLater(t, t.Context(), p, both, 300) // there is room for one side
		synctest.Wait()
		if n := both.Stats().ActiveBytes; n != 1600 {
			t.Fatalf("%d bytes are out", n)
		}
		check.Must(t, other.Release(), <-first, <-second)
	})
}

// A size that a Limit can never have is an error at once, also while another call waits.
func TestAnAcquireContextThatCanNeverBeDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, dev := tight(t, 1000)
		other := check.Ok(dev.Get(600))(t)
		first := acquireLater(t, t.Context(), p, dev, 1000)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began, full := time.Now(), (*slab.LimitError)(nil)
		if err := check.Err(unified.AcquireContext[byte](ctx, p, 1001)); !errors.As(err, &full) || full.Max != 1000 {
			t.Errorf("more than the limit: %v", err)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("it waited %v", waited)
		}
		check.Must(t, other.Release(), <-first)
	})
}

// Errors that no wait helps are those of Acquire and of the accesses, and nothing stays taken.
func TestAcquireContextErrors(t *testing.T) {
	p, host, dev := tight(t, 1000)
	check.Wraps(t, check.Err(unified.AcquireContext[byte](t.Context(), p, 1001)), device.ErrOutOfMemory)
	check.Wraps(t, check.Err(unified.AcquireContext[*byte](t.Context(), p, 1)), unified.ErrType)
	check.Wraps(t, check.Err(unified.AcquireContext[byte](t.Context(), p, -1)), device.ErrSize)
	check.Wraps(t, check.Err(unified.AcquirePinnedContext[byte](t.Context(), p, 1)), device.ErrUnavailable)
	check.Wraps(t, check.Err(unified.AcquireContext[byte](t.Context(), nil, 1)), device.ErrUnavailable)
	onDevice := unified.NewPoolOn(dev, dev, unified.PoolConfig{}) // the CPU does not reach the host side
	check.Wraps(t, check.Err(unified.AcquireContext[byte](t.Context(), onDevice, 1)), device.ErrUnavailable)
	if s := p.Stats(); s != (unified.PoolStats{}) {
		t.Errorf("%+v", s)
	}
	if n := host.Stats().ActiveBytes + dev.Stats().ActiveBytes; n != 0 {
		t.Errorf("%d bytes are out", n)
	}
	q := unified.NewPool(sim.New(1<<20), unified.PoolConfig{})
	if b := check.Ok(unified.AcquirePinnedContext[byte](t.Context(), q, 10))(t); !b.Pinned() {
		t.Error("it is not pinned")
	}
}

// With releases what it has acquired, whatever f does.
func TestWithReleases(t *testing.T) {
	p, _, _ := tight(t, 1000)
	failed := errors.New("failed")
	if err := unified.With(p, []int{2, 3}, func(b *unified.Buffer[byte]) error { return errors.Join(failed, b.Fill(1)) }); !errors.Is(err, failed) {
		t.Error(err)
	}
	check.Panics(t, "f panics", func() {
		_ = unified.With(p, []int{2, 3}, func(*unified.Buffer[byte]) error { panic("f") })
	})
	check.Must(t, unified.With(p, []int{2, 3}, func(b *unified.Buffer[byte]) error { return b.Release() }))
	check.Wraps(t, unified.With(p, []int{-1}, func(*unified.Buffer[byte]) error { panic("called") }), device.ErrSize)
	if s := p.Stats(); s.TotalAcquired != 3 || s.TotalReleased != 3 || s.PoolSize != 1 {
		t.Errorf("%+v", s)
	}
}
