package allocators

import (
	"errors"
	"math"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab"
)

// try is an Alloc that may fail for want of room. Then it must change nothing.
func (m *allocatorModel) try(t *rapid.T, size int) error {
	t.Helper()
	return m.Try(t, size, func() error {
		b, err := m.strategy.Alloc(size)
		if err == nil {
			m.admit(t, b, size)
		}
		return err
	})
}

// alloc accepts that there is no room only where FreeHeld makes none, and where something is out
// or somebody has refused.
func (m *allocatorModel) alloc(t *rapid.T) {
	if len(m.live) == model.MostLive {
		m.Skip(t, "enough blocks are out")
	}
	size := m.Size(t)
	refused := m.Up.Accounts().Refused
	err := m.try(t, size)
	if err == nil {
		return
	}
	model.ExpectNoRoom(t, size, err)
	if len(m.live) == 0 && m.MaxBytes == math.MaxInt64 && m.Up.Accounts().Refused == refused {
		t.Fatalf("Alloc of %d bytes failed with nothing out, and the upstream has refused nothing: %v", size, err)
	}
	h, is := m.strategy.(slab.Holder)
	if !is {
		return
	}
	h.FreeHeld()
	if m.try(t, size) == nil {
		t.Fatalf("Alloc of %d bytes failed while there was room for it in what is held: %v", size, err)
	}
}

func (m *allocatorModel) allocBad(t *rapid.T) {
	m.Bad(t, func() {
		b, err := m.strategy.Alloc(0)
		model.OK(t, err)
		if b != (device.Block{}) {
			t.Fatalf("Alloc of 0 bytes gave %d at offset %d, not the zero Block", b.Len, b.Off)
		}
		m.strategy.Free(b)
	}, func(size int) error {
		return m.Try(t, size, func() error {
			_, err := m.strategy.Alloc(size)
			return err
		})
	})
}

func (m *allocatorModel) allocFails(t *rapid.T) {
	size := m.Size(t)
	m.Fails(t, size, func() error { return m.try(t, size) })
}

func (m *allocatorModel) allocBreach(t *rapid.T) {
	size := m.Size(t)
	broke, err := m.Breach(t, func() error { return m.try(t, size) }, upstreamtest.NoRegion, upstreamtest.TooShort)
	if broke && err != nil && !errors.Is(err, slab.ErrUpstream) && !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("Alloc of %d bytes of a bad upstream: error does not wrap slab.ErrUpstream: %v", size, err)
	}
}

func (m *allocatorModel) free(t *rapid.T) { m.release(t, m.pick(t)) }

// freeAll lets whole regions go upstream.
func (m *allocatorModel) freeAll(t *rapid.T) {
	m.pick(t)
	for len(m.live) > 0 {
		m.release(t, 0)
	}
}

// look compares contents in between. Release does so anyway.
func (m *allocatorModel) look(t *rapid.T) {
	o := m.live[m.pick(t)]
	m.Bytes.Expect(t, o.block, o.id)
}

func (m *allocatorModel) freeHeld(t *rapid.T) {
	h, is := m.strategy.(slab.Holder)
	if !is {
		m.Skip(t, "the strategy holds nothing")
	}
	h.FreeHeld()
	m.needNothingHeld(t, "FreeHeld")
}

func (m *allocatorModel) needNothingHeld(t *rapid.T, after string) {
	t.Helper()
	if l := m.Up.Accounts(); len(m.live) == 0 && l.Bytes != 0 {
		t.Fatalf("%d bytes are held after %s, and nothing is out", l.Bytes, after)
	}
}

func (m *allocatorModel) trim(t *rapid.T) {
	r, is := m.strategy.(slab.Trimmer)
	if !is {
		m.Skip(t, "the strategy does not trim")
	}
	if m.Trims(t, r.Trim) == 0 {
		m.needNothingHeld(t, "Trim(0)")
	}
}

// stopHolding is rare, because not much happens after it.
func (m *allocatorModel) stopHolding(t *rapid.T) {
	h, is := m.strategy.(slab.Holder)
	if !is {
		m.Skip(t, "the strategy holds nothing")
	}
	m.SkipMost(t)
	h.StopHolding()
	m.Stopped = true
}
