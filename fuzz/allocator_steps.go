package fuzz

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// mostLive bounds what is out at a time, so that programs come to an end of
// some memory and not of time.
const mostLive = 40

const maxInt = int(^uint(0) >> 1)

// absurd are sizes that nobody has, near where sums of them overflow.
var absurd = []int{maxInt, maxInt - 1, maxInt - 63, maxInt - 4096, maxInt/2 + 1, maxInt/4 + 1, maxInt / 4}

// try is an Alloc that may fail for want of room, and changes nothing then.
func (m *allocatorModel) try(t *rapid.T, size int) error {
	t.Helper()
	before := m.up.ledger()
	b, err := m.strategy.Alloc(size)
	if err == nil {
		m.admit(t, b, size)
		return nil
	}
	if now := m.up.ledger(); now.bytes > before.bytes {
		t.Fatalf("Alloc of %d bytes failed, and %d bytes more are out: %v", size, now.bytes-before.bytes, err)
	}
	return err
}

// alloc takes a failure for want of room only where there is none.
func (m *allocatorModel) alloc(t *rapid.T) {
	if len(m.live) == mostLive {
		m.skip(t, "enough blocks are out")
	}
	size := drawUpTo(t, m.maxSize, m.asked)
	err := m.try(t, size)
	if err == nil {
		return
	}
	needRoomError(t, size, err)
	h, is := m.strategy.(slab.Holder)
	if !is {
		return
	}
	h.FreeHeld()
	if m.try(t, size) == nil {
		t.Fatalf("Alloc of %d bytes failed while there was room for it in what is held: %v", size, err)
	}
}

func needRoomError(t *rapid.T, size int, err error) {
	t.Helper()
	if !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("Alloc of %d bytes: error does not wrap device.ErrOutOfMemory: %v", size, err)
	}
}

// allocBad asks for what nobody gets: nothing, less, or far too much.
func (m *allocatorModel) allocBad(t *rapid.T) {
	before := m.up.ledger()
	switch rapid.SampledFrom([]string{"zero", "negative", "absurd"}).Draw(t, "size") {
	case "zero":
		b, err := m.strategy.Alloc(0)
		ok(t, err)
		if b != (device.Block{}) {
			t.Fatalf("Alloc of 0 bytes gave %d at offset %d, not the zero Block", b.Len, b.Off)
		}
		m.strategy.Free(b)
		needNoCall(t, before, m.up.ledger(), 0)
	case "negative":
		size := -rapid.SampledFrom([]int{1, 64, maxInt, maxInt - 63}).Draw(t, "bytes")
		if _, err := m.strategy.Alloc(size); !errors.Is(err, slab.ErrSize) {
			t.Fatalf("Alloc of %d bytes: error does not wrap slab.ErrSize: %v", size, err)
		}
		needNoCall(t, before, m.up.ledger(), size)
	case "absurd":
		size := rapid.SampledFrom(absurd).Draw(t, "bytes")
		if err := m.try(t, size); !errors.Is(err, slab.ErrSize) {
			needRoomError(t, size, err)
		}
	}
}

func needNoCall(t *rapid.T, before, now ledger, size int) {
	t.Helper()
	if now != before {
		t.Fatalf("Alloc of %d bytes went upstream: %+v, before %+v", size, now, before)
	}
}

// needNoMore is needNoCall beside a collector, which may find forgotten memory
// and an idle pool at any time: they give back.
func needNoMore(t *rapid.T, before, now ledger, size int) {
	t.Helper()
	if now.calls != before.calls || now.bytes > before.bytes || now.ranges > before.ranges {
		t.Fatalf("a request of %d bytes went upstream: %+v, before %+v", size, now, before)
	}
}

// allocFails has the upstream fail at some call from now on. A strategy may
// try again; if it gives up it has to say why, and the next step works.
func (m *allocatorModel) allocFails(t *rapid.T) {
	f := drawFault(t)
	size := drawUpTo(t, m.maxSize, m.asked)
	m.up.arm(f)
	err := m.try(t, size)
	m.up.disarm()
	if err != nil && !errors.Is(err, f.err) {
		needRoomError(t, size, err)
	}
}

func drawFault(t *rapid.T) fault {
	return fault{
		after: rapid.IntRange(0, 2).Draw(t, "after"),
		times: rapid.IntRange(1, 4).Draw(t, "times"),
		err:   rapid.SampledFrom([]error{device.ErrOutOfMemory, errInjected, device.ErrDeviceLost}).Draw(t, "fails"),
	}
}

// allocBreach has the upstream break its contract at the next block.
func (m *allocatorModel) allocBreach(t *rapid.T) {
	if !m.hostile {
		m.skip(t, "the upstream is honest")
	}
	how := rapid.SampledFrom([]breach{noRegion, tooShort}).Draw(t, "breach")
	size := drawUpTo(t, m.maxSize, m.asked)
	m.up.arm(fault{breach: how})
	err := m.try(t, size)
	if struck := m.up.disarm(); struck && err != nil && !errors.Is(err, slab.ErrUpstream) && !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("Alloc of %d bytes, where the upstream gave %v: error does not wrap slab.ErrUpstream: %v", size, how, err)
	}
}

func (m *allocatorModel) free(t *rapid.T) { m.release(t, m.pick(t)) }

// freeAll is what lets regions go upstream whole.
func (m *allocatorModel) freeAll(t *rapid.T) {
	m.pick(t)
	for len(m.live) > 0 {
		m.release(t, 0)
	}
}

// look compares contents in between; release does in any case.
func (m *allocatorModel) look(t *rapid.T) {
	o := m.live[m.pick(t)]
	m.bytes.expect(t, o.block, o.id)
}

func (m *allocatorModel) freeHeld(t *rapid.T) {
	h, is := m.strategy.(slab.Holder)
	if !is {
		m.skip(t, "the strategy holds nothing")
	}
	h.FreeHeld()
	m.needNothingHeld(t, "FreeHeld")
}

func (m *allocatorModel) needNothingHeld(t *rapid.T, after string) {
	t.Helper()
	if l := m.up.ledger(); len(m.live) == 0 && l.bytes != 0 {
		t.Fatalf("%d bytes are held after %s, and nothing is out", l.bytes, after)
	}
}

func (m *allocatorModel) trim(t *rapid.T) {
	r, is := m.strategy.(slab.Trimmer)
	if !is {
		m.skip(t, "the strategy does not trim")
	}
	idle := rapid.IntRange(0, 2).Draw(t, "idle")
	before := m.up.ledger().bytes
	n := r.Trim(idle)
	if gone := before - m.up.ledger().bytes; n != gone {
		t.Fatalf("Trim(%d) = %d, and %d bytes went upstream", idle, n, gone)
	}
	if idle == 0 {
		m.needNothingHeld(t, "Trim(0)")
	}
}

// stopHolding is rare, as not much happens after it.
func (m *allocatorModel) stopHolding(t *rapid.T) {
	h, is := m.strategy.(slab.Holder)
	if !is || rapid.IntRange(0, 7).Draw(t, "unless 0") != 0 {
		m.skip(t, "not now")
	}
	h.StopHolding()
	m.stopped = true
}
