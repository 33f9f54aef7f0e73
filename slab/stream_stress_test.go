package slab

import (
	"errors"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// An asynchronous program: every operation takes a buffer, has a stream of a
// late device write to it and later look whether its bytes are still there,
// and lets go of the buffer at once, by Release or by forgetting it. Whoever
// gets the memory too soon writes over what is still to be looked at. The
// budget is tight, so that streams steal from each other and Gets wait.
type asyncProgram struct {
	pool    *Pool
	dev     *sim.Device
	streams []device.Stream // as the pool is told
	rand    *rand.Rand
	early   int // buffers whose memory had another owner before their work was done
	forgot  int64
	full    int // operations that found no room
	stolen  int // waits of one stream for another, by the pool
}

// hasty wraps a stream, to put a fault into what the pool sees of it.
type hasty struct {
	*sim.Stream
	of              *asyncProgram
	noEvent, noWait bool
}

type happened struct{}

func (happened) Done() bool  { return true }
func (happened) Sync() error { return nil }

// Record without the event: all is said to be done.
func (h *hasty) Record() (device.Event, error) {
	if h.noEvent {
		return happened{}, nil
	}
	return h.Stream.Record()
}

// Wait without the wait.
func (h *hasty) Wait(e device.Event) error {
	h.of.stolen++
	if h.noWait {
		return nil
	}
	return h.Stream.Wait(e)
}

const asyncStreams = 4

func newAsyncProgram(t *testing.T, seed uint64, strategy string, fault hasty) *asyncProgram {
	t.Helper()
	d := sim.New(64 << 20)
	d.Late(seed)
	p, err := Open(d, Config{Strategy: strategy, MaxBytes: 192 << 10, GCTrigger: 64 << 10, OnForget: "report"})
	a := &asyncProgram{pool: p, dev: d, rand: rand.New(rand.NewPCG(seed, 1))}
	for range asyncStreams {
		s, err2 := d.NewStream()
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		h := fault
		h.Stream, h.of = s.(*sim.Stream), a
		a.streams = append(a.streams, &h)
	}
	return a
}

// stream prefers the first ones: the last has little to do, waits for no other
// by itself, and comes at once to what it steals.
func (a *asyncProgram) stream() *hasty {
	return a.streams[min(a.rand.IntN(asyncStreams), a.rand.IntN(asyncStreams))].(*hasty)
}

// operation returns an error that no operation expects.
func (a *asyncProgram) operation(i int) error {
	s := a.stream()
	size := 1 + a.rand.IntN(1<<a.rand.IntN(12))
	tag := byte(1 + i%251)
	var b PooledBuffer
	var err error
	if a.rand.IntN(8) > 0 {
		if b, err = a.pool.GetOn(size, s); err == nil {
			err = s.Fill(b.Block(), tag)
		}
	} else if b, err = a.pool.Get(size); err == nil { // is written to at once
		err = errors.Join(a.dev.Copy(b.Block(), device.Host(tagged(tag, size))), b.UsedOn(s))
	}
	if err != nil {
		return err
	}
	if err := s.Launch(0, a.look(tag), b.Block()); err != nil {
		return err
	}
	if s != a.streams[asyncStreams-1] && a.rand.IntN(4) == 0 {
		if err := a.handOn(b, s, tag); err != nil {
			return err
		}
	}
	if a.rand.IntN(10) == 0 {
		a.forgot++
		return nil
	}
	return b.Release()
}

// handOn has another stream look at the buffer too, when the first is done.
func (a *asyncProgram) handOn(b PooledBuffer, from *hasty, tag byte) error {
	to := a.streams[a.rand.IntN(asyncStreams-1)].(*hasty)
	e, err := from.Stream.Record()
	if err != nil {
		return err
	}
	return errors.Join(to.Stream.Wait(e), to.Launch(0, a.look(tag), b.Block()), b.UsedOn(to))
}

// look returns a kernel that looks for the owner's bytes.
func (a *asyncProgram) look(tag byte) func(...[]byte) {
	return func(args ...[]byte) {
		for _, v := range args[0] {
			if v != tag {
				a.early++
				return
			}
		}
	}
}

func tagged(tag byte, n int) []byte {
	m := make([]byte, n)
	device.Fill(m, tag)
	return m
}

// run does operations until one fails, and returns how many it did. A buffer
// for which forgotten ones have left no room is tried for again.
func (a *asyncProgram) run(operations iter.Seq[int]) (n int, err error) {
	for i := range operations {
		if a.early > 0 {
			break
		}
		if err = a.operation(i); errors.Is(err, device.ErrOutOfMemory) {
			a.full++
			cycle()
			err = a.operation(i)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	for _, s := range a.streams {
		err = errors.Join(err, s.Sync())
	}
	return n, err
}

// Memory is reused before its work is done in no operation, and comes back
// from all, released or forgotten.
func TestAsyncNeverReusesTooSoon(t *testing.T) {
	for strategy, part := range map[string]int{"slab": 1, "sizeclass": 2, "bestfit": 2} {
		t.Run(strategy, func(t *testing.T) {
			a := newAsyncProgram(t, 1, strategy, hasty{})
			n, err := a.run(bounded(t, long(t, 10_000)/part, time.Second))
			if err != nil {
				t.Fatalf("operation %d: %v", n, err)
			}
			if a.early != 0 {
				t.Errorf("reused before completion %d times in %d operations", a.early, n)
			}
			eventually(t, "what was forgotten comes back", func() bool {
				cycle()
				s := a.pool.Stats()
				return s.ActiveBlocks == 0 && s.RoundingBytes == 0
			})
			s := a.pool.Stats()
			t.Logf("%d operations, %d forgotten, %d found no room, %d waits of streams, %d calls upstream, %v simulated",
				n, a.forgot, a.full, a.stolen, s.UpstreamAllocs, a.dev.Clock())
			if s.Forgotten != a.forgot || s.DoubleReleases != 0 {
				t.Errorf("%d forgotten: %+v", a.forgot, s)
			}
			if err := a.pool.Close(); err != nil {
				t.Error(err)
			}
			if u := a.dev.Stats(); u.ActiveBytes != 0 || u.UsedAfterFree != 0 {
				t.Errorf("%+v", u)
			}
		})
	}
}

// The controls: without the event at Release, or without the wait of the
// stream that steals, the same program finds reuse before completion.
func TestAsyncWithoutWaitsReusesTooSoon(t *testing.T) {
	for name, fault := range map[string]hasty{"no event": {noEvent: true}, "no wait": {noWait: true}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				a := newAsyncProgram(t, seed, "sizeclass", fault)
				n, err := a.run(upTo(25_000)) // memory may have gone upstream, too
				_ = a.pool.Close()
				t.Logf("reused before completion %d times in %d operations; error %v", a.early, n, err)
				if a.early > 0 {
					return
				}
			}
			t.Error("nothing was reused too soon: the test cannot fail")
		})
	}
}
