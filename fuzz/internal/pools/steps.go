package pools

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab"
)

// try is a Get that may fail. Then it must take nothing more from the upstream.
func (m *poolModel) try(t *rapid.T, size int) error {
	t.Helper()
	return m.tryBy(t, size, m.pool.Get)
}

// tryBy is try by another call.
func (m *poolModel) tryBy(t *rapid.T, size int, get func(int) (slab.PooledBuffer, error)) error {
	t.Helper()
	return m.Try(t, size, func() error {
		b, err := get(size)
		if err == nil {
			m.admit(t, b, size, false)
		}
		return err
	})
}

func (m *poolModel) needSpace(t *rapid.T) {
	if len(m.live) == model.MostLive {
		m.Skip(t, "enough buffers are out")
	}
}

// get accepts that there is no room only where FreeHeld makes none.
func (m *poolModel) get(t *rapid.T) {
	m.needSpace(t)
	size := m.Size(t)
	err := m.try(t, size)
	if err == nil {
		m.needPlain(t, size)
		return
	}
	var full *slab.OutOfMemoryError
	if model.ExpectNoRoom(t, size, err); !errors.As(err, &full) || full.Size != size || full.ActiveBytes != m.sum() {
		t.Fatalf("Get of %d bytes, %d active: not the *slab.OutOfMemoryError that says so: %v", size, m.sum(), err)
	}
	m.pool.FreeHeld()
	if m.try(t, size) == nil {
		t.Fatalf("Get of %d bytes failed while there was room for it in what is held: %v", size, err)
	}
}

// getContext is get by a call that would wait. It gives up then, and nothing is left of it.
func (m *poolModel) getContext(t *rapid.T) {
	m.needSpace(t)
	if m.pool.Stats().WaitingBlocks > 0 {
		m.Skip(t, "it leaves streams to a goroutine")
	}
	size := m.Size(t)
	err := m.tryBy(t, size, func(n int) (slab.PooledBuffer, error) {
		return m.pool.GetContext(model.NewImpatient(), n)
	})
	if err == nil {
		return
	}
	m.gaveUp(t, "GetContext", err, size)
	if !m.bound.fell && m.try(t, size) == nil && !m.lastIsPlain() {
		t.Fatalf("GetContext of %d bytes gave up while there was room: %v", size, err)
	}
}

func (m *poolModel) getZeroed(t *rapid.T) {
	m.needSpace(t)
	size := m.Size(t)
	b, err := m.pool.GetZeroed(size)
	switch {
	case err == nil:
		m.admit(t, b, size, true)
	case !m.unavailable(err):
		model.ExpectNoRoom(t, size, err)
	}
}

func (m *poolModel) getBad(t *rapid.T) {
	m.Bad(t, func() {
		m.needSpace(t)
		model.OK(t, m.try(t, 0))
	}, func(size int) error { return m.try(t, size) })
}

func (m *poolModel) getFails(t *rapid.T) {
	m.needSpace(t)
	size := m.Size(t)
	m.Fails(t, size, func() error { return m.try(t, size) })
}

func (m *poolModel) getBreach(t *rapid.T) {
	m.needSpace(t)
	ways := []upstreamtest.Breach{upstreamtest.NoRegion, upstreamtest.TooShort, upstreamtest.Misaligned}
	if m.Device != nil {
		ways = ways[:2] // device memory has no address to align
	}
	size := m.Size(t)
	switch broke, err := m.Breach(t, func() error { return m.try(t, size) }, ways...); {
	case broke && !errors.Is(err, slab.ErrUpstream):
		t.Fatalf("Get of %d bytes of a bad upstream: error does not wrap slab.ErrUpstream: %v", size, err)
	case !broke:
		model.MayLackRoom(t, size, err)
	}
}

func (m *poolModel) releaseOne(t *rapid.T) { m.release(t, m.pick(t)) }

// releaseAll lets whole regions go upstream.
func (m *poolModel) releaseAll(t *rapid.T) {
	m.pick(t)
	for len(m.live) > 0 {
		m.release(t, 0)
	}
}

// releaseAgain uses a handle whose buffer was released. Another owner may have
// the memory now.
func (m *poolModel) releaseAgain(t *rapid.T) {
	if len(m.stale) == 0 {
		m.Skip(t, "no buffer was released")
	}
	b := rapid.SampledFrom(m.stale).Draw(t, "stale")
	m.needReleased(t, b)
	if b.Bytes() != nil || b.Block() != (device.Block{}) {
		t.Fatalf("a released buffer of %d bytes still has memory", b.Len())
	}
	if err := b.With(func([]byte) { t.Fatalf("With of a released buffer ran") }); !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("With of a released buffer: %v", err)
	}
}

func (m *poolModel) needReleased(t *rapid.T, b slab.PooledBuffer) {
	t.Helper()
	var err error
	panics := model.Panics(func() { err = b.Release() })
	if panics != m.strict || !panics && !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("Release of a released buffer of %d bytes: panic %v, %v", b.Len(), panics, err)
	}
	m.doubles++
}

// releaseWithin releases a buffer that is in use. It stays out and keeps its
// contents until With returns, even when other buffers are got meanwhile.
func (m *poolModel) releaseWithin(t *rapid.T) {
	m.needSpace(t)
	i := m.pick(t)
	o := m.live[i]
	o.of.use.Wait(t)
	model.OK(t, o.buffer.With(func(view []byte) {
		model.OK(t, o.buffer.Release())
		m.needReleased(t, o.buffer)
		if s := m.pool.Stats(); !m.isOut(s.ActiveBlocks, s.ActiveBytes) {
			t.Fatalf("released within With, a buffer of %d bytes counts no more: %+v", len(view), s)
		}
		other, err := m.pool.Get(o.buffer.Len())
		if err == nil {
			device.Fill(other.Bytes(), upstreamtest.FreedByte)
			model.OK(t, other.Release())
		}
		model.ExpectBytes(t, view, o.want())
	}))
	m.remove(i)
}

// look compares contents in between, by With. Release does so anyway, by Block.
func (m *poolModel) look(t *rapid.T) {
	o := &m.live[m.pick(t)]
	o.of.use.Wait(t)
	model.OK(t, o.buffer.With(func(view []byte) { model.ExpectBytes(t, view, o.want()) }))
}

func (m *poolModel) freeHeld(t *rapid.T) {
	m.pool.FreeHeld()
	m.needNothingHeld(t, "FreeHeld")
}

func (m *poolModel) needNothingHeld(t *rapid.T, after string) {
	t.Helper()
	if l := m.Up.Accounts(); m.holder && m.sum() == 0 && l.Bytes != 0 && m.pool.Stats().WaitingBlocks == 0 {
		t.Fatalf("%d bytes are held after %s, and nothing is out or waits", l.Bytes, after)
	}
}

func (m *poolModel) trim(t *rapid.T) {
	if m.Trims(t, m.pool.Trim) == 0 {
		m.needNothingHeld(t, "Trim(0)")
	}
}

// stopHolding is rare, because not much happens after it.
func (m *poolModel) stopHolding(t *rapid.T) {
	m.SkipMost(t)
	m.pool.StopHolding()
	m.Stopped = true
}
