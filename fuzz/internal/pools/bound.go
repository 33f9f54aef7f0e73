package pools

import (
	"errors"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// A bound is what the upstream may have given, while the program moves it.
type bound struct {
	most    int64 // that the program has asked for
	ceiling int64 // that, or what was managed when the bound fell and has not gone yet
	highest int64 // ceiling so far
	fell    bool  // more was managed than the program asked for last
}

func newBound(most int64) bound { return bound{most: most, ceiling: most, highest: most} }

// look fails if the upstream has given more.
func (b *bound) look(t *rapid.T, l model.Accounts) {
	t.Helper()
	if l.Bytes > b.ceiling || l.Peak > b.highest {
		t.Fatalf("%d bytes of the upstream are out, %d were, of %d allowed", l.Bytes, l.Peak, b.ceiling)
	}
	b.ceiling = max(b.most, min(b.ceiling, l.Bytes))
}

// gaveUp fails unless err is that of a call that would have waited, for one buffer or for several. Under a bound that
// fell calls wait though Get may find memory that is held, until all fits and a goroutine has seen that.
func (m *poolModel) gaveUp(t *rapid.T, call string, err error, sizes ...int) {
	t.Helper()
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	var full *slab.OutOfMemoryError
	var wait *slab.WaitError
	waited := errors.As(err, &wait)
	switch {
	case waited && wait.Size != sum:
	case waited && m.bound.fell:
		return
	case errors.As(err, &full) && slices.Contains(append(sizes, sum), full.Size) &&
		(waited || m.sum() == 0 || int64(sum+len(sizes)*4096) > m.most()): // a Limit counts whole pages
		return
	}
	t.Fatalf("%s of %v bytes, %d active: %v", call, sizes, m.sum(), err)
}

// setMaxBytes moves the bound, as far as the program may. What is out stays; what is held goes, if it can.
func (m *poolModel) setMaxBytes(t *rapid.T) {
	if m.MaxBytes == math.MaxInt64 {
		m.Skip(t, "the pool has no bound, and may have something between it and the upstream")
	}
	now := m.Up.Accounts().Bytes
	most := rapid.SampledFrom([]int64{0, 1, 4096, 64 << 10, m.sum(), now, now - 1}).Draw(t, "bound")
	switch err := m.pool.SetMaxBytes(most); {
	case most < 0 || most > 0 && errors.As(err, new(*slab.ConfigError)):
		if err == nil {
			t.Fatalf("a bound of %d bytes was taken", most)
		}
		return
	default:
		model.OK(t, err)
	}
	if most == 0 {
		most = math.MaxInt64
	}
	had := m.Up.Accounts().Bytes
	m.bound = bound{most, max(most, had), max(m.bound.highest, most), had > most}
	if m.holder && m.sum() == 0 && had > most && m.pool.Stats().WaitingBlocks == 0 {
		t.Fatalf("%d bytes are held above a bound of %d, and nothing is out or waits", had, most)
	}
}

// getAll takes several buffers or none. It gives up where it would wait, and may not if they fit one after the other.
func (m *poolModel) getAll(t *rapid.T) {
	if len(m.live)+3 > model.MostLive {
		m.Skip(t, "enough buffers are out")
	}
	if m.pool.Stats().WaitingBlocks > 0 {
		m.Skip(t, "it leaves streams to a goroutine")
	}
	sizes := make([]int, rapid.IntRange(0, 3).Draw(t, "buffers"))
	for i := range sizes {
		sizes[i] = m.Size(t)
	}
	list, err := m.pool.GetAll(model.NewImpatient(), sizes...)
	if err != nil {
		m.gaveUp(t, "GetAll", err, sizes...)
		return
	}
	for i, b := range list {
		m.admit(t, b, sizes[i], false)
	}
}

// getBytes is get by slice, with a context that is done where it would wait.
func (m *poolModel) getBytes(t *rapid.T) {
	m.needSpace(t)
	if m.Device != nil {
		m.Skip(t, "device memory has no slices")
	}
	size := m.Size(t)
	err := m.tryBy(t, size, func(n int) (slab.PooledBuffer, error) {
		b, err := m.pool.GetBytesContext(model.NewImpatient(), n)
		if err != nil {
			return slab.PooledBuffer{}, err
		}
		return m.handleOf(t, b, n), nil
	})
	if err != nil {
		m.gaveUp(t, "GetBytesContext", err, size)
	}
}

// handleOf returns the handle of a slice of n bytes.
func (m *poolModel) handleOf(t *rapid.T, b []byte, n int) slab.PooledBuffer {
	h, ok := m.pool.Lookup(b)
	if !ok || len(b) != n || cap(b) != n {
		t.Fatalf("GetBytesContext of %d bytes: %d of %d, found %v", n, len(b), cap(b), ok)
	}
	return h
}
