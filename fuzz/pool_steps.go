package fuzz

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// try is a Get that may fail, and takes nothing more from the upstream then.
func (m *poolModel) try(t *rapid.T, size int) error {
	t.Helper()
	before := m.up.ledger()
	b, err := m.pool.Get(size)
	if err == nil {
		m.admit(t, b, size, false)
		return nil
	}
	if now := m.up.ledger(); now.bytes > before.bytes {
		t.Fatalf("Get of %d bytes failed, and %d bytes more are out: %v", size, now.bytes-before.bytes, err)
	}
	return err
}

func (m *poolModel) needSpace(t *rapid.T) {
	if len(m.live) == mostLive {
		m.skip(t, "enough buffers are out")
	}
}

// get takes a failure for want of room only where there is none.
func (m *poolModel) get(t *rapid.T) {
	m.needSpace(t)
	size := drawUpTo(t, m.maxSize, m.asked)
	err := m.try(t, size)
	if err == nil {
		return
	}
	var full *slab.OutOfMemoryError
	if needRoomError(t, size, err); !errors.As(err, &full) || full.Size != size || full.ActiveBytes != m.sum() {
		t.Fatalf("Get of %d bytes, %d active: not the *slab.OutOfMemoryError that says so: %v", size, m.sum(), err)
	}
	m.pool.FreeHeld()
	if m.try(t, size) == nil {
		t.Fatalf("Get of %d bytes failed while there was room for it in what is held: %v", size, err)
	}
}

func (m *poolModel) getZeroed(t *rapid.T) {
	m.needSpace(t)
	size := drawUpTo(t, m.maxSize, m.asked)
	b, err := m.pool.GetZeroed(size)
	switch {
	case err == nil:
		m.admit(t, b, size, true)
	case !m.unavailable(err):
		needRoomError(t, size, err)
	}
}

// getBad asks for what nobody gets, and for nothing, which everybody does.
func (m *poolModel) getBad(t *rapid.T) {
	before := m.up.ledger()
	switch rapid.SampledFrom([]string{"zero", "negative", "absurd"}).Draw(t, "size") {
	case "zero":
		m.needSpace(t)
		ok(t, m.try(t, 0))
		needNoMore(t, before, m.up.ledger(), 0)
	case "negative":
		size := -rapid.SampledFrom([]int{1, 64, maxInt, maxInt - 63}).Draw(t, "bytes")
		if err := m.try(t, size); !errors.Is(err, slab.ErrSize) {
			t.Fatalf("Get of %d bytes: error does not wrap slab.ErrSize: %v", size, err)
		}
		needNoMore(t, before, m.up.ledger(), size)
	case "absurd":
		size := rapid.SampledFrom(absurd).Draw(t, "bytes")
		if err := m.try(t, size); !errors.Is(err, slab.ErrSize) {
			needRoomError(t, size, err)
		}
	}
}

// getFails has the upstream fail at some call from now on.
func (m *poolModel) getFails(t *rapid.T) {
	m.needSpace(t)
	f := drawFault(t)
	size := drawUpTo(t, m.maxSize, m.asked)
	m.up.arm(f)
	err := m.try(t, size)
	m.up.disarm()
	if err != nil && !errors.Is(err, f.err) {
		needRoomError(t, size, err)
	}
}

// getBreach has the upstream break its contract at the next block.
func (m *poolModel) getBreach(t *rapid.T) {
	if !m.hostile {
		m.skip(t, "the upstream is honest")
	}
	m.needSpace(t)
	ways := []breach{noRegion, tooShort, misaligned}
	if m.device != nil {
		ways = ways[:2] // of device memory nobody sees an address
	}
	how := rapid.SampledFrom(ways).Draw(t, "breach")
	size := drawUpTo(t, m.maxSize, m.asked)
	m.up.arm(fault{breach: how})
	err := m.try(t, size)
	switch struck := m.up.disarm(); {
	case struck && !errors.Is(err, slab.ErrUpstream):
		t.Fatalf("Get of %d bytes, where the upstream gave %v: error does not wrap slab.ErrUpstream: %v", size, how, err)
	case !struck && err != nil:
		needRoomError(t, size, err)
	}
}

func (m *poolModel) releaseOne(t *rapid.T) { m.release(t, m.pick(t)) }

// releaseAll is what lets regions go upstream whole.
func (m *poolModel) releaseAll(t *rapid.T) {
	m.pick(t)
	for len(m.live) > 0 {
		m.release(t, 0)
	}
}

// releaseAgain uses a handle whose buffer was released, whoever has it now.
func (m *poolModel) releaseAgain(t *rapid.T) {
	if len(m.stale) == 0 {
		m.skip(t, "no buffer was released")
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
	if err := b.Release(); !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("Release of a released buffer of %d bytes: %v", b.Len(), err)
	}
	m.doubles++
}

// releaseWithin releases a buffer that is in use: it stays out, and so keeps
// its contents, until With returns, whoever gets memory meanwhile.
func (m *poolModel) releaseWithin(t *rapid.T) {
	m.needSpace(t)
	i := m.pick(t)
	o := m.live[i]
	o.calm(t)
	ok(t, o.buffer.With(func(view []byte) {
		ok(t, o.buffer.Release())
		m.needReleased(t, o.buffer)
		if s := m.pool.Stats(); s.ActiveBlocks != int64(len(m.live)) || s.ActiveBytes != m.sum() {
			t.Fatalf("released within With, a buffer of %d bytes counts no more: %+v", len(view), s)
		}
		other, err := m.pool.Get(o.buffer.Len())
		if err == nil {
			fill(other.Bytes(), freedByte)
			ok(t, other.Release())
		}
		expectMark(t, view, o.id)
	}))
	m.live = append(m.live[:i], m.live[i+1:]...)
	m.stale = append(m.stale, o.buffer)
}

// look compares contents in between, by With; release does in any case, by Block.
func (m *poolModel) look(t *rapid.T) {
	o := &m.live[m.pick(t)]
	o.calm(t)
	ok(t, o.buffer.With(func(view []byte) { expectMark(t, view, o.id) }))
}

func (m *poolModel) freeHeld(t *rapid.T) {
	m.pool.FreeHeld()
	m.needNothingHeld(t, "FreeHeld")
}

func (m *poolModel) needNothingHeld(t *rapid.T, after string) {
	t.Helper()
	if l := m.up.ledger(); m.sum() == 0 && l.bytes != 0 && m.pool.Stats().WaitingBlocks == 0 {
		t.Fatalf("%d bytes are held after %s, and nothing is out or waits", l.bytes, after)
	}
}

func (m *poolModel) trim(t *rapid.T) {
	idle := rapid.IntRange(0, 2).Draw(t, "idle")
	before := m.up.ledger().bytes
	n := m.pool.Trim(idle)
	if gone := before - m.up.ledger().bytes; n != gone {
		t.Fatalf("Trim(%d) = %d, and %d bytes went upstream", idle, n, gone)
	}
	if idle == 0 {
		m.needNothingHeld(t, "Trim(0)")
	}
}

// stopHolding is rare, as not much happens after it.
func (m *poolModel) stopHolding(t *rapid.T) {
	if rapid.IntRange(0, 7).Draw(t, "unless 0") != 0 {
		m.skip(t, "not now")
	}
	m.pool.StopHolding()
	m.stopped = true
}
