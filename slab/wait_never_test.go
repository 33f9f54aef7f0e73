package slab

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// Calls that wait for nothing: what they ask for will never be there.

// A stalled stream is done with nothing until its gate is closed.
type stalled struct {
	queue
	gate chan struct{}
}

func (s *stalled) Record() (device.Event, error) { return stalledEvent{s}, nil }

type stalledEvent struct{ on *stalled }

func (e stalledEvent) Sync() error { <-e.on.gate; return nil }

func (e stalledEvent) Done() bool {
	select {
	case <-e.on.gate:
		return true
	default:
		return false
	}
}

func TestMoreThanALimitWaitsForNoStream(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact", MaxBytes: 1 << 20})
	s := &stalled{gate: make(chan struct{})}
	defer close(s.gate)
	b := mustGet(t, p, 1000)
	if err := b.UsedOn(s); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, b)
	r := <-getLater(t, t.Context(), p, 2<<20)
	var full *OutOfMemoryError
	if s := p.Stats(); !errors.As(r.err, &full) || s.Failed != 1 || s.Waits != 0 {
		t.Errorf("%v; %+v", r.err, s)
	}
}

// What is more than a Limit has fails with a LimitError at once, though it is so much that no upstream is asked for it.
func TestMoreThanIsEverAskedForIsMoreThanALimit(t *testing.T) {
	for _, line := range []string{"device=heap,max_bytes=1MiB", "device=mmap,max_bytes=1MiB,overflow=make", "device=heap"} {
		p := openLine(t, line)
		b := mustGet(t, p, 1000)
		for i, size := range []int{maxAsk + 1, maxInt - 1, maxInt} {
			_, one := p.GetContext(t.Context(), size)
			_, all := p.GetAll(t.Context(), size-1, 1)
			for _, err := range []error{one, all} {
				var limit *LimitError
				bounded := line != "device=heap"
				if !outOfMemory(err) || errors.As(err, &limit) != bounded || bounded && limit.Asked != int64(size) {
					t.Errorf("%s, %d: %v", line, size, err)
				}
			}
			if s := p.Stats(); s.Failed != int64(2*i+2) || s.Waits != 0 {
				t.Errorf("%s, %d: %v", line, size, s)
			}
		}
		mustRelease(t, b)
		check.Must(t, p.Close())
		if _, err := p.GetContext(t.Context(), maxInt); !errors.Is(err, ErrClosed) {
			t.Errorf("%s, closed: %v", line, err)
		}
	}
	l := NewLimit(openDevice(t, "heap"), 1<<30)
	_ = check.Ok(l.Within(1<<30, 1<<20))(t)
	p := mustOpen(t, l, Config{})
	var limit *LimitError
	if _, err := p.GetContext(t.Context(), maxInt); !errors.As(err, &limit) || limit.Promised != 1<<20 {
		t.Error(err)
	}
	check.Must(t, p.Close())
}

// A meddler refuses large blocks, and does something meanwhile.
type meddler struct {
	source
	refuses atomic.Bool
	first   func()
}

func (m *meddler) Alloc(size int) (device.Block, error) {
	if size >= 1000 && m.refuses.Load() {
		m.first()
		return device.Block{}, device.ErrOutOfMemory
	}
	return m.source.Alloc(size)
}

// What was got while a call looked for room may come back: it is not hopeless, though nothing was
// out before.
func TestWhatWasGotMeanwhileMayComeBack(t *testing.T) {
	m := &meddler{}
	m.refuses.Store(true)
	p := mustOpen(t, m, Config{Strategy: "direct"})
	var kept PooledBuffer
	m.first = func() {
		if kept.Len() == 0 && p.Stats().Waiters > 0 {
			kept = mustGet(t, p, 10)
		}
	}
	c := getLater(t, t.Context(), p, 1000)
	eventually(t, "the call looks", func() bool { return p.Stats().ActiveBlocks == 1 || len(c) > 0 })
	letOthersRun()
	m.refuses.Store(false)
	mustRelease(t, kept)
	mustRelease(t, mustHave(t, c))
}

// Who waits behind others for what the device does not have would hold up all that come later.
func TestMoreThanTheDeviceHasDoesNotQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPool(t, "sim:8MiB", Config{Strategy: "direct"})
		out := mustGet(t, p, 6<<20)
		first := getLater(t, t.Context(), p, 4<<20)
		_, err := p.GetContext(t.Context(), 100<<20)
		var full *OutOfMemoryError
		if !errors.As(err, &full) || p.Stats().Failed != 1 {
			t.Errorf("%v, %d failed", err, p.Stats().Failed)
		}
		mustRelease(t, out)
		mustRelease(t, mustHave(t, first))
		p.Close()
	})
}
