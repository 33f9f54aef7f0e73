package growpools

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// A request is one that was drawn.
type request struct {
	key   string
	kind  kind
	shape []int
}

func (m *growModel) draw(t *rapid.T) request {
	r := request{key: rapid.SampledFrom(keys).Draw(t, "key"), kind: rapid.SampledFrom(kinds).Draw(t, "element")}
	most := rapid.IntRange(1, max(1, m.MaxSize/r.kind.size)).Draw(t, "most")
	r.shape, _ = drawShape(t, most)
	return r
}

func (m *growModel) get(t *rapid.T) {
	r := m.draw(t)
	model.MayLackRoom(t, m.size(r), m.try(t, r))
}

func (m *growModel) size(r request) int {
	n := r.kind.size
	for _, k := range r.shape {
		n *= k
	}
	return n
}

// try is a Get that may fail for want of room.
func (m *growModel) try(t *rapid.T, r request) error {
	t.Helper()
	g, before := m.keys[r.key], m.pool.Stats()[r.key]
	w, err := r.kind.get(t, m.pool, r.key, r.shape)
	switch {
	case g.lease != nil:
		if !errors.Is(err, growpool.ErrLeased) {
			t.Fatalf("Get of key %q, which is leased: %v", r.key, err)
		}
		return nil
	case err != nil:
		m.needNoChange(t, r, before)
		return err
	}
	m.judge(t, r.key, w, before)
	m.everShown++
	g.shown = true
	if g.views = append(g.views, w); len(g.views) > mostViews {
		g.views = slices.Delete(g.views, 0, 1)
	}
	return nil
}

// needNoChange fails if a request that failed has changed a key. A buffer that
// only leases have shown may be lost: it went back to make room.
func (m *growModel) needNoChange(t *rapid.T, r request, before growpool.KeyStats) {
	t.Helper()
	g, now := m.keys[r.key], m.pool.Stats()[r.key]
	if m.bounded && now.Bytes == 0 {
		return
	}
	lost := before
	lost.Bytes = 0
	if now != before && (g.shown || now != lost) {
		t.Fatalf("Get of %d bytes for key %q failed: %+v, then %+v", m.size(r), r.key, before, now)
	}
	if !g.shown {
		m.turn(t, r.key) // what it holds is new
	}
	g.stats = now
}

// getBad asks for shapes and element types that are refused.
func (m *growModel) getBad(t *rapid.T) {
	key := rapid.SampledFrom([]string{"coeff", "new"}).Draw(t, "key")
	bad := rapid.SampledFrom([][]int{nil, {-1}, {0, -1}, {3, 0, -1}, {-3, -3}, {draw.MaxInt, 2}, {1, draw.MaxInt},
		{draw.MaxInt/8 + 1, 8}}).Draw(t, "shape")
	before, l := m.pool.Stats(), m.Up.Accounts()
	_, err := growpool.Get[float64](m.pool, key, bad...)
	_, err2 := growpool.Acquire[float64](context.Background(), m.pool, key, bad...)
	if !errors.Is(err, growpool.ErrShape) || !errors.Is(err, slab.ErrSize) || !errors.Is(err2, growpool.ErrShape) {
		t.Fatalf("shape %v: errors do not wrap growpool.ErrShape and slab.ErrSize: %v, %v", bad, err, err2)
	}
	if _, err := growpool.Get[[]byte](m.pool, key, 1); !errors.Is(err, growpool.ErrElement) {
		t.Fatalf("a type with pointers: %v", err)
	}
	now := m.pool.Stats()
	if now[key] != before[key] || len(now) != len(before) {
		t.Fatalf("bad requests for key %q: %+v, then %+v", key, before, now)
	}
	m.ExpectNoMore(t, l, 0)
}

func (m *growModel) getFails(t *rapid.T) {
	r := m.draw(t)
	m.Fails(t, m.size(r), func() error { return m.try(t, r) })
}

func (m *growModel) acquire(t *rapid.T) {
	r := m.drawFree(t)
	model.MayLackRoom(t, m.size(r), m.tryAcquire(t, r))
}

// drawFree draws a request for a key that is not leased. On a leased one Acquire
// would wait for ever.
func (m *growModel) drawFree(t *rapid.T) request {
	r := m.draw(t)
	if m.keys[r.key].lease != nil {
		m.Skip(t, "the key is leased")
	}
	return r
}

func (m *growModel) tryAcquire(t *rapid.T, r request) error {
	t.Helper()
	g, before := m.keys[r.key], m.pool.Stats()[r.key]
	w, err := r.kind.acquire(t, m.pool, r.key, r.shape)
	if err != nil {
		m.needNoChange(t, r, before)
		return err
	}
	m.judge(t, r.key, w, before)
	g.lease = &page{w, bytes.Clone(w.bytes)}
	return nil
}

func (m *growModel) acquireFails(t *rapid.T) {
	r := m.drawFree(t)
	m.Fails(t, m.size(r), func() error { return m.tryAcquire(t, r) })
}

// release ends a lease. The invariant has seen that its memory is as its owner
// left it.
func (m *growModel) release(t *rapid.T) {
	for _, key := range keys {
		g := m.keys[key]
		if g.lease == nil {
			continue
		}
		model.OK(t, g.lease.release())
		if err := g.lease.release(); !errors.Is(err, growpool.ErrReleased) {
			t.Fatalf("a second Release: %v", err)
		}
		g.lease = nil
		return
	}
	m.Skip(t, "nothing is leased")
}

// clear is rare, because it makes buffers small again.
func (m *growModel) clear(t *rapid.T) {
	m.SkipMost(t)
	m.pool.Clear()
	for key, g := range m.keys {
		m.turn(t, key)
		g.stats.Bytes = 0
		if m.bounded {
			g.stats = growpool.KeyStats{}
		}
	}
	if u := m.pool.MemoryUsage(); u.TotalBytes != 0 {
		t.Fatalf("after Clear %+v", u)
	}
}

func (m *growModel) clearStats(t *rapid.T) {
	m.SkipMost(t)
	m.pool.ClearStats()
	m.served = 0
	for _, g := range m.keys {
		g.stats = growpool.KeyStats{Bytes: g.stats.Bytes}
	}
}
