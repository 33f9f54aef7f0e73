package growpools

import (
	"bytes"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// growModel is a pool of keyed buffers beside what it must have shown.
type growModel struct {
	model.Base
	below   *slab.Pool
	pool    *growpool.Pool[string]
	bounded bool // keys may lose their buffers
	exact   bool // the collector does not see the memory: what Get has shown stays out

	keys      map[string]*grown
	stale     []page
	served    int64 // requests since the counts were last cleared
	everShown int   // Gets that succeeded
	refused   int   // requests of the slab.Pool for which there was no room
}

// grown is a key: its counts, and what was written to its buffer.
type grown struct {
	stats    growpool.KeyStats
	contents []byte
	views    []window
	lease    *page // with what its owner wrote
	shown    bool  // by Get, since the buffer was made
}

// A page is a window and what it must hold, for ever if its buffer was replaced.
type page struct {
	window
	want []byte
}

// keys are those that programs ask for.
var keys = []string{"coeff", "coeff_grad", "E_tilda_lm", ""}

// What is kept of old windows, to look at them again.
const (
	mostViews = 8 // of a key
	mostStale = 30
)

// turn notes that a key has lost its buffer, so that its windows are stale.
func (m *growModel) turn(t *rapid.T, key string) {
	t.Helper()
	g := m.keys[key]
	for _, w := range g.views {
		if w.valid() && len(w.bytes) > 0 && !m.bounded {
			t.Fatalf("a view of key %q is valid, whose buffer was replaced", key)
		}
		m.stale = append(m.stale, page{w, bytes.Clone(w.bytes)})
	}
	if n := len(m.stale) - mostStale; n > 0 {
		m.stale = m.stale[n:]
	}
	g.views, g.contents, g.shown = nil, nil, false
}

// judge fails unless a request has counted and shown what it had to, and has its
// owner write to it.
func (m *growModel) judge(t *rapid.T, key string, w window, before growpool.KeyStats) {
	t.Helper()
	g := m.keys[key]
	now := m.pool.Stats()[key]
	m.served++
	want := before
	switch need := int64(len(w.bytes)); {
	case need <= before.Bytes:
		want.Hits++
		if known := min(len(g.contents), len(w.bytes)); !bytes.Equal(w.bytes[:known], g.contents[:known]) {
			t.Fatalf("a hit on key %q does not show what was written", key)
		}
	case before.Bytes > 0:
		want.Grows++
	default:
		want.Misses++
	}
	if want.Hits == before.Hits {
		m.turn(t, key)
		want.Bytes = max(now.Bytes, int64(len(w.bytes)))
	}
	if now != want && !(m.bounded && now.Bytes == 0) {
		t.Fatalf("key %q, %d bytes asked: %+v, then %+v, want %+v", key, len(w.bytes), before, now, want)
	}
	g.stats = now
	m.write(g, w)
}

// write has the owner of w write its mark.
func (m *growModel) write(g *grown, w window) {
	m.Next++
	copy(w.bytes, model.Mark(m.Next, len(w.bytes)))
	if len(w.bytes) > len(g.contents) {
		g.contents = append(g.contents, make([]byte, len(w.bytes)-len(g.contents))...)
	}
	copy(g.contents, w.bytes)
}

// check is the invariant.
func (m *growModel) check(t *rapid.T) {
	stats, refused := m.pool.Stats(), m.Up.Accounts().Refused
	mayLose := refused > m.refused
	m.refused = refused
	var sum growpool.KeyStats
	for key, g := range m.keys {
		now := stats[key]
		if mayLose && g.gaveBack(now) {
			m.turn(t, key)
			g.stats = now
		}
		if now != g.stats && !(m.bounded && now.Bytes == 0) {
			t.Fatalf("key %q: %+v, without a request since %+v", key, now, g.stats)
		}
		if m.bounded && now.Bytes == 0 && g.stats.Bytes > 0 {
			m.turn(t, key)
			g.stats = now
		}
		sum.Bytes += now.Bytes
		m.checkViews(t, key, g)
	}
	for key, g := range m.keys {
		if l := g.lease; l != nil && !bytes.Equal(l.bytes, l.want) {
			t.Fatalf("another owner wrote to key %q, which is leased", key)
		}
	}
	for _, p := range m.stale {
		if !bytes.Equal(p.bytes, p.want) {
			t.Fatalf("another owner wrote to %d bytes that a stale view shows", len(p.bytes))
		}
	}
	m.checkUsage(t, sum.Bytes)
	if s := m.pool.Totals(); s.Hits+s.Misses+s.Grows != m.served {
		t.Fatalf("%d requests were served: %+v", m.served, s)
	}
}

// gaveBack reports whether a key has lost its buffer as it may where there is no room: one
// that no lease has, and that only leases have shown.
func (g *grown) gaveBack(now growpool.KeyStats) bool {
	lost := g.stats
	lost.Bytes = 0
	return g.lease == nil && !g.shown && now == lost
}

func (m *growModel) checkViews(t *rapid.T, key string, g *grown) {
	for _, w := range g.views {
		if !m.bounded && !w.valid() {
			t.Fatalf("a view of key %q is stale, and its buffer was not replaced", key)
		}
		if !bytes.Equal(w.bytes, g.contents[:len(w.bytes)]) {
			t.Fatalf("a view of key %q does not show what was written last", key)
		}
	}
}

// checkUsage compares the pool's figures with the slab.Pool's.
func (m *growModel) checkUsage(t *rapid.T, sum int64) {
	u, s := m.pool.MemoryUsage(), m.below.Stats()
	total := int64(0)
	for _, n := range u.Keys {
		total += n
	}
	switch {
	case u.TotalBytes != total || u.TotalBytes != sum:
		t.Fatalf("the keys have %d bytes: %+v", sum, u)
	case u.HeldBytes < u.TotalBytes || u.PeakBytes < u.HeldBytes || u.PeakBytes > m.MaxBytes:
		t.Fatalf("of %d bytes allowed: %+v", m.MaxBytes, u)
	case s.ActiveBytes < u.HeldBytes:
		t.Fatalf("%d bytes are out of the slab.Pool: %+v", s.ActiveBytes, u)
	}
}

// close closes the pool. Then only buffers that Get has shown may be out.
func (m *growModel) close(t *rapid.T) {
	leases := 0
	for _, g := range m.keys {
		if g.lease != nil {
			leases++
		}
	}
	if err := m.pool.Close(); (err == nil) != (leases == 0) {
		t.Fatalf("Close with %d leases out: %v", leases, err)
	}
	for _, g := range m.keys {
		if g.lease != nil {
			model.OK(t, g.lease.release())
		}
	}
	if u := m.pool.MemoryUsage(); u.HeldBytes != 0 || u.TotalBytes != 0 {
		t.Fatalf("after Close %+v", u)
	}
	if s := m.below.Stats(); m.exact && m.everShown == 0 && s.ActiveBlocks != 0 {
		t.Fatalf("Get has shown nothing, and %d buffers are out", s.ActiveBlocks)
	}
	_ = m.below.Close() // what Get has shown is out still
}
