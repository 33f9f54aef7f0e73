package allocators

import (
	"errors"
	"math"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab"
)

// try is an Alloc that may fail for want of room. Then it must change nothing.
func (m *allocatorModel) try(t *rapid.T, size int) error {
	t.Helper()
	before := m.up.Accounts()
	b, err := m.strategy.Alloc(size)
	if err == nil {
		m.admit(t, b, size)
		return nil
	}
	if now := m.up.Accounts(); now.Bytes > before.Bytes {
		t.Fatalf("Alloc of %d bytes failed, and %d bytes more are out: %v", size, now.Bytes-before.Bytes, err)
	}
	return err
}

// alloc accepts that there is no room only where FreeHeld makes none, and where something is out
// or somebody has refused.
func (m *allocatorModel) alloc(t *rapid.T) {
	if len(m.live) == model.MostLive {
		m.Skip(t, "enough blocks are out")
	}
	size := draw.UpTo(t, m.MaxSize, m.asked)
	refused := m.up.Accounts().Refused
	err := m.try(t, size)
	if err == nil {
		return
	}
	model.ExpectNoRoom(t, size, err)
	if len(m.live) == 0 && m.MaxBytes == math.MaxInt64 && m.up.Accounts().Refused == refused {
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

// allocBad asks for no bytes, for fewer, and for more than there are.
func (m *allocatorModel) allocBad(t *rapid.T) {
	before := m.up.Accounts()
	switch rapid.SampledFrom([]string{"zero", "negative", "absurd"}).Draw(t, "size") {
	case "zero":
		b, err := m.strategy.Alloc(0)
		model.OK(t, err)
		if b != (device.Block{}) {
			t.Fatalf("Alloc of 0 bytes gave %d at offset %d, not the zero Block", b.Len, b.Off)
		}
		m.strategy.Free(b)
		needNoCall(t, before, m.up.Accounts(), 0)
	case "negative":
		size := draw.Negative(t)
		if _, err := m.strategy.Alloc(size); !errors.Is(err, slab.ErrSize) {
			t.Fatalf("Alloc of %d bytes: error does not wrap slab.ErrSize: %v", size, err)
		}
		needNoCall(t, before, m.up.Accounts(), size)
	case "absurd":
		size := rapid.SampledFrom(draw.Absurd).Draw(t, "bytes")
		if err := m.try(t, size); !errors.Is(err, slab.ErrSize) {
			model.ExpectNoRoom(t, size, err)
		}
	}
}

// needNoCall fails if a request that was to be refused went upstream.
func needNoCall(t *rapid.T, before, now model.Accounts, size int) {
	t.Helper()
	if now != before {
		t.Fatalf("Alloc of %d bytes went upstream: %+v, before %+v", size, now, before)
	}
}

// allocFails has the upstream fail at some call from now on. A strategy may
// try again; if it gives up it has to say why, and the next step works.
func (m *allocatorModel) allocFails(t *rapid.T) {
	f := model.DrawFault(t)
	size := draw.UpTo(t, m.MaxSize, m.asked)
	m.up.Arm(f)
	err := m.try(t, size)
	m.up.Disarm()
	if err != nil && !errors.Is(err, f.Err) {
		model.ExpectNoRoom(t, size, err)
	}
}

// allocBreach has the upstream break its contract at the next block.
func (m *allocatorModel) allocBreach(t *rapid.T) {
	if !m.Hostile {
		m.Skip(t, "the upstream is honest")
	}
	how := rapid.SampledFrom([]upstreamtest.Breach{upstreamtest.NoRegion, upstreamtest.TooShort}).Draw(t, "breach")
	size := draw.UpTo(t, m.MaxSize, m.asked)
	m.up.Arm(model.Fault{Breach: how})
	err := m.try(t, size)
	if struck := m.up.Disarm(); struck && err != nil && !errors.Is(err, slab.ErrUpstream) &&
		!errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("Alloc of %d bytes, where the upstream gave %v: error does not wrap slab.ErrUpstream: %v", size, how,
			err)
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
	m.bytes.Expect(t, o.block, o.id)
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
	if l := m.up.Accounts(); len(m.live) == 0 && l.Bytes != 0 {
		t.Fatalf("%d bytes are held after %s, and nothing is out", l.Bytes, after)
	}
}

func (m *allocatorModel) trim(t *rapid.T) {
	r, is := m.strategy.(slab.Trimmer)
	if !is {
		m.Skip(t, "the strategy does not trim")
	}
	idle := rapid.IntRange(0, 2).Draw(t, "idle")
	before := m.up.Accounts().Bytes
	n := r.Trim(idle)
	if gone := before - m.up.Accounts().Bytes; n != gone {
		t.Fatalf("Trim(%d) = %d, and %d bytes went upstream", idle, n, gone)
	}
	if idle == 0 {
		m.needNothingHeld(t, "Trim(0)")
	}
}

// stopHolding is rare, because not much happens after it.
func (m *allocatorModel) stopHolding(t *rapid.T) {
	h, is := m.strategy.(slab.Holder)
	if !is || rapid.IntRange(0, 7).Draw(t, "unless 0") != 0 {
		m.Skip(t, "not now")
	}
	h.StopHolding()
	m.stopped = true
}
