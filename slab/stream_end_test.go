package slab

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// A stream that cannot record is waited for: it is done then, closed, failed
// or lost as it may be.
func TestStreamThatCannotRecord(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
		q := &queue{Err: errLost}
		mustRelease(t, used(t, mustGet(t, p, streamSize), q))
		waiting(t, p, 0)
		if q.Syncs != 1 {
			t.Errorf("%d waits", q.Syncs)
		}
	})
}

// On a device that is late, streams that close, fail and get lost let go of
// what they use, and no work comes to memory that has gone.
func TestStreamsThatEnd(t *testing.T) {
	for what, end := range map[string]func(d *sim.Device, s device.Stream){
		"closed": func(_ *sim.Device, s device.Stream) { s.Close() },
		"failed": func(d *sim.Device, s device.Stream) { s.Fill(device.Block{Len: 1}, 0) },
		"lost":   func(d *sim.Device, s device.Stream) { d.Lose(1); d.MemInfo() },
	} {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprint(what, before), func(t *testing.T) {
				streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
					d.Late(1)
					s, err := d.NewStream()
					if err != nil {
						t.Fatal(err)
					}
					b := used(t, mustGet(t, p, streamSize), s)
					for range 10 {
						if err := s.Fill(b.Block(), 1); err != nil {
							t.Fatal(err)
						}
					}
					if before {
						end(d, s)
					}
					mustRelease(t, b)
					if !before {
						end(d, s)
					}
					p.StopHolding()
					if st := p.Stats(); st.ManagedBytes != 0 || d.Stats().UsedAfterFree != 0 {
						t.Errorf("%+v, memory used after free %d times", st, d.Stats().UsedAfterFree)
					}
				})
			})
		}
	}
}

// FreeHeld leaves what waits, and takes it when it is done. It never waits.
func TestFreeHeldLeavesWhatWaits(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
		q := &queue{}
		mustRelease(t, used(t, mustGet(t, p, streamSize), q))
		p.FreeHeld()
		if waiting(t, p, 1); d.Stats().ActiveBytes == 0 || q.Synced() != 0 {
			t.Error("given back, or waited for")
		}
		q.Finish()
		if n := p.Trim(0); n < streamSize || d.Stats().ActiveBytes != 0 {
			t.Errorf("Trim(0) = %d, %d bytes are out", n, d.Stats().ActiveBytes)
		}
	})
}

// StopHolding waits, and so do Releases after it, and after Close.
func TestStopHoldingWaits(t *testing.T) {
	for _, stop := range []func(*Pool){(*Pool).StopHolding, func(p *Pool) { p.Close() }} {
		streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
			q := &queue{}
			late := used(t, mustGet(t, p, streamSize), q)
			mustRelease(t, used(t, mustGet(t, p, streamSize), q))
			stop(p)
			if waiting(t, p, 0); q.Synced() != 1 {
				t.Errorf("%d waits", q.Synced())
			}
			mustRelease(t, late)
			if q.Synced() != 2 || d.Stats().ActiveBytes != 0 {
				t.Errorf("%d waits, %d bytes are out", q.Synced(), d.Stats().ActiveBytes)
			}
		})
	}
}

// A pool that asks others for room gets what waits in them.
func TestSharedBudgetWaits(t *testing.T) {
	limit := NewLimit(sim.New(1<<30), streamSize)
	c := Config{Strategy: "exact"}
	p, o, q := mustOpen(t, limit, c), mustOpen(t, limit, c), &queue{}
	mustRelease(t, used(t, mustGet(t, p, streamSize), q))
	mustRelease(t, mustGet(t, o, streamSize))
	if q.Synced() != 1 {
		t.Errorf("%d waits", q.Synced())
	}
	p.Close()
	o.Close()
}

// Goroutines share streams, blocks go from one to the other, and nothing is lost.
func TestStreamsConcurrently(t *testing.T) {
	for _, name := range Strategies() {
		t.Run(name, func(t *testing.T) {
			d := sim.New(64 << 20)
			d.Late(1)
			p := mustOpen(t, d, Config{Strategy: name, MaxBytes: 2 << 20})
			var streams []device.Stream
			for range 3 {
				s, err := d.NewStream()
				if err != nil {
					t.Fatal(err)
				}
				streams = append(streams, s)
			}
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for i := range bounded(t, long(t, 200), 500*time.Millisecond) {
						s := streams[(g+i)%3]
						get := func(n int) (PooledBuffer, error) { return p.GetOn(n, s) }
						if i%3 == 0 {
							get = p.Get
						}
						b, err := get(1 + (i*7919+g)%(96<<10))
						if err == nil {
							err = errors.Join(b.UsedOn(s), s.Fill(b.Block(), byte(i)), b.Release())
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			checkNothing(t, p)
			if u := d.Stats(); u.ActiveBytes != 0 || u.UsedAfterFree != 0 {
				t.Errorf("%+v", u)
			}
		})
	}
}

// A picky stream says what memory it accepts.
type picky struct {
	queue
	err error
}

func (s *picky) Accepts(device.Block) error { return s.err }

// A stream of another device is refused, where it would not work. One that is closed has nothing under way.
func TestUsedOnAsksTheStream(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 1000)
	for _, c := range []struct{ says, want error }{{nil, nil}, {device.ErrClosed, nil}, {device.ErrUnavailable, device.ErrUnavailable}} {
		if err := b.UsedOn(&picky{err: c.says}); !errors.Is(err, c.want) {
			t.Errorf("a stream that says %v: %v", c.says, err)
		}
	}
	mustRelease(t, b)
}
