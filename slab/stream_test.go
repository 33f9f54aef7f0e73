package slab

import (
	"errors"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// A block that a stream uses waits until its event is done. Then Get may have it.
func TestUsedBlockWaits(t *testing.T) {
	for _, size := range []int{100, 5000, streamSize} {
		streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
			q := &queue{}
			b := used(t, mustGet(t, p, size), q)
			at := where(b)
			mustRelease(t, b)
			waiting(t, p, 1)
			o := mustGet(t, p, size)
			if where(o) == at {
				t.Error("handed out while a stream uses it")
			}
			waiting(t, p, 1)
			if len(q.Recorded) != 1 || q.Synced() != 0 {
				t.Errorf("%d events, %d waits", len(q.Recorded), q.Synced())
			}
			q.Finish()
			mustRelease(t, o)
			p.Trim(1)
			waiting(t, p, 0)
		})
	}
}

// When its event is done the block comes back to where Get takes from.
func TestUsedBlockComesBack(t *testing.T) {
	streamPools(t, 1, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
		q := &queue{}
		mustRelease(t, used(t, mustGet(t, p, streamSize/2), q))
		q.Finish()
		mustRelease(t, mustGet(t, p, streamSize/2))
		if q.Synced() != 1 { // finish itself
			t.Errorf("%d waits", q.Synced())
		}
		waiting(t, p, 0)
		checkNoneOut(t, p)
	})
}

// No error for want of room while a block waits: Get waits with it.
func TestOutOfMemoryWaits(t *testing.T) {
	streamPools(t, 4, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
		q, r := &queue{}, &queue{}
		for range 2 {
			mustRelease(t, used(t, mustGet(t, p, streamSize), q, r))
		}
		b := mustGet(t, p, 3*streamSize)
		if q.Synced() == 0 || r.Synced() != q.Synced() {
			t.Errorf("%d and %d waits", q.Synced(), r.Synced())
		}
		mustRelease(t, b)
	})
}

// The oldest is waited for first, and only until there is room.
func TestOutOfMemoryWaitsForTheOldest(t *testing.T) {
	streamPool(t, 2, Config{Strategy: "exact"}, func(t *testing.T, p *Pool, _ *sim.Device) {
		q, r := &queue{}, &queue{}
		x, y := used(t, mustGet(t, p, streamSize), r), used(t, mustGet(t, p, streamSize), q)
		releaseAll(t, []PooledBuffer{x, y})
		z := mustGet(t, p, streamSize)
		if r.Synced() != 1 || q.Synced() != 0 {
			t.Errorf("%d waits for the oldest, %d for the other", r.Synced(), q.Synced())
		}
		mustRelease(t, z)
	})
}

// A block that several streams use waits for all of them.
func TestUsedOnSeveralStreams(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		streams := []*queue{{}, {}, {}}
		b := mustGet(t, p, streamSize)
		for range 2 { // said again, it changes nothing
			for _, q := range streams {
				used(t, b, q)
			}
		}
		mustRelease(t, b)
		for _, q := range streams {
			waiting(t, p, 1)
			if x := mustGetOn(t, p, streamSize, &queue{Err: errLost}); where(x) == where(b) {
				t.Error("handed out before all are done")
			} else {
				mustRelease(t, x)
			}
			if len(q.Recorded) != 1 {
				t.Errorf("%d events", len(q.Recorded))
			}
			q.Finish()
			p.Trim(100)
		}
		waiting(t, p, 0)
	})
}

// Handles that are no longer good change nothing, and neither do bad streams.
func TestUsedOnRefuses(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		q := &queue{}
		stale := mustGet(t, p, 1000)
		mustRelease(t, stale)
		b := mustGet(t, p, 1000) // the same slot, as a rule
		for _, h := range []PooledBuffer{stale, {}} {
			if err := h.UsedOn(q); !errors.Is(err, ErrReleased) {
				t.Errorf("UsedOn of a released buffer: %v", err)
			}
		}
		if err := b.UsedOn(nil); !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("UsedOn of no stream: %v", err)
		}
		if _, err := p.GetOn(1, nil); !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("GetOn of no stream: %v", err)
		}
		if _, err := p.GetOn(-1, q); !errors.Is(err, ErrSize) {
			t.Errorf("GetOn of a negative size: %v", err)
		}
		mustRelease(t, used(t, mustGet(t, p, 0), q))
		mustRelease(t, mustGetOn(t, p, 0, q))
		mustRelease(t, b)
		if len(q.Recorded) != 0 || p.Stats().DoubleReleases != 0 {
			t.Errorf("%d events, %d refused Releases", len(q.Recorded), p.Stats().DoubleReleases)
		}
	})
}

// Copies of a handle stand for one buffer here too, and within With, Release
// takes effect at its end.
func TestUsedOnByCopies(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		q := &queue{}
		b := mustGet(t, p, streamSize)
		c := b
		if err := b.With(func([]byte) {
			used(t, c, q)
			mustRelease(t, c)
			if err := b.UsedOn(q); !errors.Is(err, ErrReleased) {
				t.Errorf("UsedOn of a copy, released: %v", err)
			}
			if len(q.Recorded) != 0 {
				t.Error("recorded while the buffer is in use")
			}
		}); err != nil {
			t.Error(err)
		}
		waiting(t, p, 1)
	})
}

// A buffer that no stream uses has nothing to do with all this.
func TestUnusedBuffersRecordNothing(t *testing.T) {
	p := openPool(t, "sim", Config{})
	q := &queue{}
	mustRelease(t, used(t, mustGet(t, p, 1000), q))
	b := mustGet(t, p, 1000)
	if !b.slot.Simple() || b.slot.Streamed() {
		t.Error("an unused buffer is taken for a used one")
	}
	mustRelease(t, b)
	q.Finish()
	if n := check.Allocs(100, func() { b, _ := p.Get(1000); b.Release() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(q.Recorded) != 1 {
		t.Errorf("%d events", len(q.Recorded))
	}
}

// A stream that panics when it is to wait leaves the block where it was.
func TestAStreamThatPanicsTakesNoBlock(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact"})
	var user queue
	b := mustGet(t, p, 10_000)
	if err := b.UsedOn(&user); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, b)
	if !doesPanic(func() { _, _ = p.GetOn(10_000, &panickyQueue{}) }) {
		t.Error("no panic")
	}
	user.Finish()
	checkQuiet(t, p)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	checkNothing(t, p)
}

// A block whose stream panics at its Release is not lost: it waits for its other streams, or goes back.
func TestAStreamThatPanicsLosesNoBlock(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		for _, in := range []string{"Record", "Done", "Sync"} {
			p := openPool(t, dev, Config{Strategy: "direct", MaxBytes: 64 << 10})
			b, bad, good := mustGet(t, p, 60<<10), &unsteady{in: in}, &queue{}
			used(t, b, bad, good)
			if in == "Sync" {
				p.StopHolding()
			}
			if !doesPanic(func() { _ = b.Release() }) {
				t.Errorf("%s, %s: no panic", dev, in)
			}
			if bad.in = ""; in != "Sync" {
				waiting(t, p, 1)
			}
			if len(good.Recorded) != 1 {
				t.Errorf("%s, %s: the other stream has recorded %d events", dev, in, len(good.Recorded))
			}
			good.Finish()
			p.FreeHeld()
			checkQuiet(t, p)
			mustRelease(t, mustGet(t, p, 60<<10))
			check.Must(t, p.Close())
			checkNothing(t, p)
		}
	}
}

// An unsteady stream panics in a method.
type unsteady struct {
	queue
	in string
}

func (s *unsteady) panics(in string) {
	if s.in == in {
		panic(told)
	}
}

func (s *unsteady) Record() (device.Event, error) { s.panics("Record"); return unsteadyEvent{s}, nil }

type unsteadyEvent struct{ on *unsteady }

func (e unsteadyEvent) Done() bool  { e.on.panics("Done"); return true }
func (e unsteadyEvent) Sync() error { e.on.panics("Sync"); return nil }

// A panickyQueue panics instead of waiting.
type panickyQueue struct{ queue }

func (*panickyQueue) Wait(device.Event) error { panic(told) }

// A program that only releases gets back what its streams are done with.
func TestReleaseSweeps(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		q := &queue{}
		a := used(t, mustGet(t, p, streamSize), q)
		b := used(t, mustGet(t, p, streamSize), q)
		mustRelease(t, a)
		waiting(t, p, 1)
		q.Finish()
		mustRelease(t, b)
		waiting(t, p, 1)
	})
}

// A buffer is used on a stream from any goroutine, beside others that read it, share it, or
// have it grow. The race detector sees to it.
func TestUsedOnBesideReaders(t *testing.T) {
	d := check.Ok(device.Open("sim"))(t)
	s := check.Ok(d.NewStream())(t)
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(t, line)
		for range 50 {
			b := check.Ok(p.Get(100_000))(t)
			var wg sync.WaitGroup
			wg.Go(func() { check.Must(t, b.UsedOn(s)) })
			wg.Go(func() { b.Bytes()[0] = 1 })
			wg.Go(func() { _ = b.Block().Len })
			wg.Go(func() { check.Must(t, check.Ok(b.Share())(t).Release()) })
			wg.Wait()
			wg.Go(func() {
				if err := b.UsedOn(s); err != nil && !errors.Is(err, ErrReleased) {
					t.Error(err)
				}
			})
			c := check.Ok(b.Grow(200_000))(t)
			wg.Wait()
			check.Must(t, s.Sync())
			check.Must(t, c.Release())
		}
		check.Must(t, p.Close())
	}
	check.Must(t, s.Close())
}
