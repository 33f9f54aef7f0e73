package slab

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
)

// A queue is a stream whose work is done when the test says so.
type queue struct {
	device.Stream // nil: what a pool does not need
	name          string
	recorded      []*moment
	waited        []device.Event
	syncs         int
	err           error // of every call
}

// A moment is an event of a queue. Sync makes it happen.
type moment struct {
	mu    sync.Mutex
	done  bool
	syncs int
}

func (q *queue) Record() (device.Event, error) {
	if q.err != nil {
		return nil, q.err
	}
	m := &moment{}
	q.recorded = append(q.recorded, m)
	return m, nil
}

func (q *queue) Wait(e device.Event) error {
	if q.err == nil {
		q.waited = append(q.waited, e)
	}
	return q.err
}

func (q *queue) Sync() error { q.syncs++; return q.err }

// finish lets all that was recorded happen.
func (q *queue) finish() {
	for _, m := range q.recorded {
		m.Sync()
	}
}

// synced counts the events that somebody waited for.
func (q *queue) synced() (n int) {
	for _, m := range q.recorded {
		n += m.syncs
	}
	return n
}

func (m *moment) Done() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.done }
func (m *moment) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.done {
		m.done = true
		m.syncs++
	}
	return nil
}

// streamSize is above every cache, so that all is up to the strategy.
const streamSize = 64 << 10

func mustUse(t testing.TB, b PooledBuffer, streams ...device.Stream) PooledBuffer {
	t.Helper()
	for _, s := range streams {
		if err := b.UsedOn(s); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func mustGetOn(t testing.TB, p *Pool, size int, s device.Stream) PooledBuffer {
	t.Helper()
	b, err := p.GetOn(size, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustRelease(t testing.TB, b PooledBuffer) PooledBuffer {
	t.Helper()
	if err := b.Release(); err != nil {
		t.Fatal(err)
	}
	return b
}

// streamPools runs f with a pool a strategy, on a device with room for some
// blocks of streamSize.
func streamPools(t *testing.T, blocks int64, c Config, f func(t *testing.T, p *Pool, d *device.Sim)) {
	for _, name := range Strategies() {
		t.Run(name, func(t *testing.T) {
			d := device.NewSim(blocks * streamSize)
			c := c
			c.Strategy = name
			p, err := Open(d, c)
			if err != nil {
				t.Fatal(err)
			}
			f(t, p, d)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if n := d.Stats().ActiveBytes; n != 0 {
				t.Errorf("%d bytes are not given back", n)
			}
		})
	}
}

// waiting fails unless so many blocks wait, and the books are balanced.
func waiting(t testing.TB, p *Pool, blocks int64) {
	t.Helper()
	s := p.Stats()
	if s.WaitingBlocks != blocks || s.WaitingBytes < blocks || s.HeldBlocks < blocks || s.HeldBytes < s.WaitingBytes {
		t.Errorf("%d blocks should wait: %+v", blocks, s)
	}
	if s.ManagedBytes != s.ActiveBytes+s.RoundingBytes+s.HeldBytes+s.UnusableBytes {
		t.Errorf("managed bytes are not the sum of their parts: %+v", s)
	}
}

// where tells blocks apart: their region and offset.
func where(b PooledBuffer) spot { return spot{b.Block().Region, b.Block().Off} }

// A block that a stream uses is for nobody until its event is done, and then
// for Get.
func TestUsedBlockWaits(t *testing.T) {
	for _, size := range []int{100, 5000, streamSize} {
		streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *device.Sim) {
			q := &queue{}
			b := mustUse(t, mustGet(t, p, size), q)
			at := where(b)
			mustRelease(t, b)
			waiting(t, p, 1)
			o := mustGet(t, p, size)
			if where(o) == at {
				t.Error("handed out while a stream uses it")
			}
			waiting(t, p, 1)
			if len(q.recorded) != 1 || q.synced() != 0 {
				t.Errorf("%d events, %d waits", len(q.recorded), q.synced())
			}
			q.finish()
			mustRelease(t, o)
			p.Trim(1)
			waiting(t, p, 0)
		})
	}
}

// When its event is done the block comes back to where Get takes from.
func TestUsedBlockComesBack(t *testing.T) {
	streamPools(t, 1, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
		q := &queue{}
		mustRelease(t, mustUse(t, mustGet(t, p, streamSize/2), q))
		q.finish()
		mustRelease(t, mustGet(t, p, streamSize/2))
		if q.synced() != 1 { // finish itself
			t.Errorf("%d waits", q.synced())
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.WaitingBlocks != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// GetOn hands out at once what waits for its stream alone, without an event.
func TestGetOnItsOwnStream(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *device.Sim) {
		q := &queue{}
		b := mustGetOn(t, p, streamSize, q) // counts as used
		at := where(b)
		mustRelease(t, b)
		waiting(t, p, 1)
		b = mustGetOn(t, p, streamSize*2/3, q)
		if where(b) != at || b.Len() != streamSize*2/3 || b.Block().Len != b.Len() {
			t.Error("a block that waits for the same stream is not handed out")
		}
		if q.synced() != 0 || len(q.waited) != 0 {
			t.Errorf("%d waits of the host, %d of the stream", q.synced(), len(q.waited))
		}
		waiting(t, p, 0)
		mustRelease(t, b)
		waiting(t, p, 1)
		if small := mustGetOn(t, p, streamSize/3, q); where(small) == at {
			t.Error("a block more than twice as large is handed out")
		} else {
			mustRelease(t, small)
		}
	})
}

// Where there is nothing free GetOn takes what waits for another stream, and
// lets its own wait; the host waits for nobody.
func TestGetOnSteals(t *testing.T) {
	for _, blocks := range []int64{1, 8} { // with and without room
		streamPools(t, blocks, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
			a, b := &queue{name: "a"}, &queue{name: "b"}
			x := mustGetOn(t, p, streamSize/2+1, a)
			at, allocs := where(x), p.Stats().UpstreamAllocs
			mustRelease(t, x)
			free := p.Stats().HeldBytes - p.Stats().WaitingBytes
			y := mustGetOn(t, p, streamSize/2+1, b)
			if free <= streamSize/2 {
				if where(y) != at || len(b.waited) != 1 || b.waited[0] != a.recorded[0] || p.Stats().UpstreamAllocs != allocs {
					t.Errorf("not stolen: %d waits of the stream", len(b.waited))
				}
			} else if where(y) == at {
				t.Error("stolen although there is free memory")
			}
			if a.synced() != 0 {
				t.Error("the host has waited")
			}
			mustRelease(t, y)
		})
	}
}

// Where there is no room it steals what is much larger too.
func TestGetOnStealsWhatIsLarger(t *testing.T) {
	for _, name := range []string{"direct", "exact", "bitlog"} { // which have nothing smaller to cut from it
		d := device.NewSim(10 * streamSize)
		p, err := Open(d, Config{Strategy: name})
		if err != nil {
			t.Fatal(err)
		}
		a, b := &queue{}, &queue{}
		d.FailAlloc(2, device.ErrOutOfMemory)
		mustRelease(t, mustGetOn(t, p, streamSize, a))
		x := mustGetOn(t, p, 100, b)
		if len(b.waited) != 1 || a.synced() != 0 {
			t.Errorf("%s: not stolen, %d waits of the host", name, a.synced())
		}
		if s := p.Stats(); s.ActiveBytes != 100 || s.RoundingBytes < streamSize-100 {
			t.Errorf("%s: %+v", name, s)
		}
		mustRelease(t, x)
		p.Close()
	}
}

// A stream that has failed steals nothing, and what it wanted still waits.
func TestFailedStreamStealsNothing(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *device.Sim) {
		a, b := &queue{}, &queue{err: errLost}
		mustRelease(t, mustGetOn(t, p, streamSize, a))
		x := mustGetOn(t, p, streamSize, b)
		waiting(t, p, 1)
		mustRelease(t, x)
	})
}

// No error for want of room while a block waits: Get waits with it.
func TestOutOfMemoryWaits(t *testing.T) {
	streamPools(t, 4, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
		q, r := &queue{}, &queue{}
		for range 2 {
			mustRelease(t, mustUse(t, mustGet(t, p, streamSize), q, r))
		}
		b, err := p.Get(3 * streamSize)
		if err != nil {
			t.Fatal(err)
		}
		if q.synced() == 0 || r.synced() != q.synced() {
			t.Errorf("%d and %d waits", q.synced(), r.synced())
		}
		mustRelease(t, b)
	})
}

// The oldest is waited for first, and only until there is room.
func TestOutOfMemoryWaitsForTheOldest(t *testing.T) {
	d := device.NewSim(2 * streamSize)
	p, err := Open(d, Config{Strategy: "exact"})
	if err != nil {
		t.Fatal(err)
	}
	q, r := &queue{}, &queue{}
	x, y := mustUse(t, mustGet(t, p, streamSize), r), mustUse(t, mustGet(t, p, streamSize), q)
	mustRelease(t, x)
	mustRelease(t, y)
	z := mustGet(t, p, streamSize)
	if r.synced() != 1 || q.synced() != 0 {
		t.Errorf("%d waits for the oldest, %d for the other", r.synced(), q.synced())
	}
	mustRelease(t, z)
	p.Close()
}

// A block that several streams use waits for all of them.
func TestUsedOnSeveralStreams(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *device.Sim) {
		streams := []*queue{{}, {}, {}}
		b := mustGet(t, p, streamSize)
		for range 2 { // said again, it changes nothing
			for _, q := range streams {
				mustUse(t, b, q)
			}
		}
		mustRelease(t, b)
		for _, q := range streams {
			waiting(t, p, 1)
			if x := mustGetOn(t, p, streamSize, &queue{err: errLost}); where(x) == where(b) {
				t.Error("handed out before all are done")
			} else {
				mustRelease(t, x)
			}
			if len(q.recorded) != 1 {
				t.Errorf("%d events", len(q.recorded))
			}
			q.finish()
			p.Trim(100)
		}
		waiting(t, p, 0)
	})
}

// Of a block that several streams have used, GetOn of one waits for the others.
func TestStealFromSeveralStreams(t *testing.T) {
	d := device.NewSim(streamSize)
	p, err := Open(d, Config{Strategy: "exact"})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := &queue{}, &queue{}, &queue{}
	mustRelease(t, mustUse(t, mustGet(t, p, streamSize), a, b, c))
	x := mustGetOn(t, p, streamSize, b)
	if len(b.waited) != 2 || b.waited[0] != a.recorded[0] || b.waited[1] != c.recorded[0] {
		t.Errorf("waits for %d events", len(b.waited))
	}
	mustRelease(t, x)
	p.Close()
}

// Handles that are no longer good change nothing, and neither do bad streams.
func TestUsedOnRefuses(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *device.Sim) {
		q := &queue{}
		stale := mustRelease(t, mustGet(t, p, 1000))
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
		mustRelease(t, mustUse(t, mustGet(t, p, 0), q))
		mustRelease(t, mustGetOn(t, p, 0, q))
		mustRelease(t, b)
		if len(q.recorded) != 0 || p.Stats().DoubleReleases != 0 {
			t.Errorf("%d events, %d refused Releases", len(q.recorded), p.Stats().DoubleReleases)
		}
	})
}

// Copies of a handle stand for one buffer here too, and within With, Release
// takes effect at its end.
func TestUsedOnByCopies(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *device.Sim) {
		q := &queue{}
		b := mustGet(t, p, streamSize)
		c := b
		if err := b.With(func([]byte) {
			mustUse(t, c, q)
			mustRelease(t, c)
			if err := b.UsedOn(q); !errors.Is(err, ErrReleased) {
				t.Errorf("UsedOn of a copy, released: %v", err)
			}
			if len(q.recorded) != 0 {
				t.Error("recorded while the buffer is in use")
			}
		}); err != nil {
			t.Error(err)
		}
		waiting(t, p, 1)
	})
}

// A stream that cannot record is waited for: it is done then, closed, failed
// or lost as it may be.
func TestStreamThatCannotRecord(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
		q := &queue{err: errLost}
		mustRelease(t, mustUse(t, mustGet(t, p, streamSize), q))
		waiting(t, p, 0)
		if q.syncs != 1 {
			t.Errorf("%d waits", q.syncs)
		}
	})
}

// On a device that is late, streams that close, fail and get lost let go of
// what they use, and no work comes to memory that has gone.
func TestStreamsThatEnd(t *testing.T) {
	for what, end := range map[string]func(d *device.Sim, s device.Stream){
		"closed": func(_ *device.Sim, s device.Stream) { s.Close() },
		"failed": func(d *device.Sim, s device.Stream) { s.Fill(device.Block{Len: 1}, 0) },
		"lost":   func(d *device.Sim, s device.Stream) { d.Lose(1); d.MemInfo() },
	} {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprint(what, before), func(t *testing.T) {
				streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
					d.Late(1)
					s, err := d.NewStream()
					if err != nil {
						t.Fatal(err)
					}
					b := mustUse(t, mustGet(t, p, streamSize), s)
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
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
		q := &queue{}
		mustRelease(t, mustUse(t, mustGet(t, p, streamSize), q))
		p.FreeHeld()
		if waiting(t, p, 1); d.Stats().ActiveBytes == 0 || q.synced() != 0 {
			t.Error("given back, or waited for")
		}
		q.finish()
		if n := p.Trim(0); n < streamSize || d.Stats().ActiveBytes != 0 {
			t.Errorf("Trim(0) = %d, %d bytes are out", n, d.Stats().ActiveBytes)
		}
	})
}

// StopHolding waits, and so do Releases after it, and after Close.
func TestStopHoldingWaits(t *testing.T) {
	for _, stop := range []func(*Pool){(*Pool).StopHolding, func(p *Pool) { p.Close() }} {
		streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, d *device.Sim) {
			q := &queue{}
			late := mustUse(t, mustGet(t, p, streamSize), q)
			mustRelease(t, mustUse(t, mustGet(t, p, streamSize), q))
			stop(p)
			if waiting(t, p, 0); q.synced() != 1 {
				t.Errorf("%d waits", q.synced())
			}
			mustRelease(t, late)
			if q.synced() != 2 || d.Stats().ActiveBytes != 0 {
				t.Errorf("%d waits, %d bytes are out", q.synced(), d.Stats().ActiveBytes)
			}
		})
	}
}

// A pool that asks others for room gets what waits in them.
func TestSharedBudgetWaits(t *testing.T) {
	limit := NewLimit(device.NewSim(1<<30), streamSize)
	open := func() *Pool {
		p, err := Open(limit, Config{Strategy: "exact"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, o, q := open(), open(), &queue{}
	mustRelease(t, mustUse(t, mustGet(t, p, streamSize), q))
	mustRelease(t, mustGet(t, o, streamSize))
	if q.synced() != 1 {
		t.Errorf("%d waits", q.synced())
	}
	p.Close()
	o.Close()
}

// Where every block has to go by the strategy, none is handed out while it waits.
func TestGetOnByTheStrategy(t *testing.T) {
	for _, c := range []Config{{Check: true}, {Zero: true}, {Record: t.TempDir() + "/trace.csv"}} {
		streamPools(t, 8, c, func(t *testing.T, p *Pool, _ *device.Sim) {
			q := &queue{}
			b := mustGetOn(t, p, streamSize, q)
			at := where(b)
			mustRelease(t, b)
			if b = mustGetOn(t, p, streamSize, q); where(b) == at {
				t.Error("handed out while it waits")
			}
			mustRelease(t, b)
		})
	}
}

// A buffer that no stream uses has nothing to do with all this.
func TestUnusedBuffersRecordNothing(t *testing.T) {
	p := openPool(t, "sim", Config{})
	q := &queue{}
	mustRelease(t, mustUse(t, mustGet(t, p, 1000), q))
	b := mustGet(t, p, 1000)
	if !b.own.plain || b.own.used {
		t.Error("an unused buffer is taken for a used one")
	}
	mustRelease(t, b)
	q.finish()
	if n := testing.AllocsPerRun(100, func() { b, _ := p.Get(1000); b.Release() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(q.recorded) != 1 {
		t.Errorf("%d events", len(q.recorded))
	}
}

// What was used and forgotten waits too, wherever it comes from.
func TestForgottenUsedBuffersWait(t *testing.T) {
	for _, dev := range []string{"sim", "heap", "mmap"} {
		t.Run(dev, func(t *testing.T) {
			p := openPool(t, dev, Config{})
			q := &queue{}
			func() { mustUse(t, mustGet(t, p, streamSize), q) }()
			eventually(t, "the forgotten block waits", func() bool { cycle(); return p.Stats().WaitingBlocks == 1 })
			waiting(t, p, 1)
			if s := p.Stats(); s.Forgotten != 1 || s.ActiveBlocks != 0 {
				t.Errorf("%+v", s)
			}
			cycle() // it is not lost twice
			b := mustGetOn(t, p, streamSize, q)
			if s := p.Stats(); s.WaitingBlocks != 0 || s.UpstreamAllocs != 1 {
				t.Errorf("%+v", s)
			}
			if m := b.Bytes(); dev != "sim" {
				m[0], m[len(m)-1] = 1, 2
			}
			mustRelease(t, b)
			q.finish()
			p.FreeHeld()
			if s := p.Stats(); s.ManagedBytes != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// eventually asks until the answer is yes.
func eventually(t testing.TB, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !yes(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}

// Quarantined memory keeps its contents until the streams are done with it.
func TestQuarantineWaits(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	q := &queue{}
	var view []byte
	func() {
		b := mustUse(t, mustGet(t, p, streamSize), q)
		view = b.Bytes()
		view[100] = 7
	}()
	eventually(t, "an event is recorded", func() bool { cycle(); return p.c.streams.count.Load() == 1 })
	if s := p.Stats(); s.WaitingBlocks != 0 || s.UnusableBytes != streamSize {
		t.Errorf("%+v", s)
	}
	p.FreeHeld()
	if view[100] != 7 {
		t.Error("the memory is gone before the stream is done")
	}
	if b := mustGetOn(t, p, streamSize, q); &b.Bytes()[0] == &view[0] {
		t.Error("quarantined memory is handed out")
	} else {
		mustRelease(t, b)
	}
	q.finish()
	p.FreeHeld()
	if view[100] != 0 {
		t.Error("the pages are not given back when the stream is done")
	}
}

// Goroutines share streams, blocks go from one to the other, and nothing is lost.
func TestStreamsConcurrently(t *testing.T) {
	for _, name := range Strategies() {
		t.Run(name, func(t *testing.T) {
			d := device.NewSim(64 << 20)
			d.Late(1)
			p, err := Open(d, Config{Strategy: name, MaxBytes: 2 << 20})
			if err != nil {
				t.Fatal(err)
			}
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
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := range 500 {
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
				}()
			}
			wg.Wait()
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if s, u := p.Stats(), d.Stats(); s.ManagedBytes != 0 || s.HeldBytes != 0 || s.RoundingBytes != 0 || u.ActiveBytes != 0 || u.UsedAfterFree != 0 {
				t.Errorf("%+v, %+v", s, u)
			}
		})
	}
}
