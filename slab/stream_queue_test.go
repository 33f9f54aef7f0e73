package slab

import (
	"sync"
	"testing"

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
