package unifiedbuffers

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/unified"
)

// unifiedModel is a buffer beside what it must hold, element by element.
//
// As long as it is exact it knows everything: states, bytes that move and calls.
// When work on a stream may have failed it does not know what was copied. Then
// reads may fail and marks may conflict, but what is read is right.
type unifiedModel struct {
	model.Patience
	dev  device.Device
	sim  simulated // nil where nothing can be made to fail
	open func(dev device.Device, n int) (Buffer, error)

	buf     Buffer
	view    Buffer // of a step, buf or a part of it
	want    []byte
	cells   []residence
	raw     []byte       // all of the host side, from an access before; nil if there was none
	whole   device.Block // all of the device side, from an access before
	streams model.Streams
	dropped []device.Stream // have failed, and were not waited for since
	reads   []lateRead
	exact   bool
	armed   bool // a call is to fail, or has failed since the last settle
	lost    bool
	moved   traffic // what the buffer and the check have to have moved
	counted bool    // moved is true
}

// A lateRead is what a stream has been told to read, and what it must find.
type lateRead struct {
	stream device.Stream
	into   []byte
	want   []byte
}

// simulated is what a device that fails on command can do: a [sim.Device].
type simulated interface {
	FailAlloc(n int, err error)
	FailCopy(n int, err error)
	FailFill(n int, err error)
	Lose(n int)
	Traits() device.Traits
	Stats() sim.Stats
}

func (m *unifiedModel) begin(t *rapid.T) {
	n := min(draw.Size(t), 150)
	b, err := m.open(m.dev, n)
	model.OK(t, err)
	m.buf, m.want, m.cells = b, make([]byte, n), make([]residence, n)
	m.raw, m.whole = nil, device.Block{}
	m.exact = !m.armed && !m.lost
}

// pick draws the part of the buffer that a step is about: all, or a view.
func (m *unifiedModel) pick(t *rapid.T) (lo, hi int) {
	v, is := m.buf.(interface {
		View(i, j int) (*unified.Buffer[byte], error)
	})
	if m.view = m.buf; !is || rapid.Bool().Draw(t, "whole") {
		return 0, len(m.want)
	}
	lo, hi = drawRange(t, len(m.want))
	b, err := v.View(lo, hi)
	model.OK(t, err)
	m.view = b
	return lo, hi
}

// stream draws a stream, or nil for none. A stream that has failed is replaced
// but stays open, because a closed one returns no errors of its work.
func (m *unifiedModel) stream(t *rapid.T) device.Stream {
	i := rapid.IntRange(-1, len(m.streams)-1).Draw(t, "stream")
	if i < 0 || m.lost {
		return nil
	}
	if m.streams[i] == nil {
		s, err := m.dev.NewStream()
		model.OK(t, err)
		m.streams[i] = s
	}
	m.exact = m.exact && !m.armed
	return m.streams[i]
}

// drop forgets a stream that has failed.
func (m *unifiedModel) drop(s device.Stream) {
	for i, x := range m.streams {
		if s != nil && x == s {
			m.streams[i], m.dropped = nil, append(m.dropped, s)
			m.exact = false
		}
	}
}

// judge fails unless the error of an access is one that it may give. If there is
// none it notes the access and returns true. While the model is exact, refusals
// are the only errors, and it knows them.
func (m *unifiedModel) judge(t *rapid.T, err error, lo, hi, side int, w purpose, s device.Stream) bool {
	t.Helper()
	refusal := m.refusal(lo, hi, side, w)
	switch {
	case refusal != nil && err == nil:
		t.Fatalf("elements %d to %d: no error, where it has to be: %v", lo, hi, refusal)
	case refusal != nil:
		if m.exact && !errors.Is(err, refusal) {
			t.Fatalf("elements %d to %d: error is %v, not: %v", lo, hi, err, refusal)
		}
	case err == nil:
		m.grant(lo, hi, side, w)
		return true
	case !m.exact && w == toMark && (errors.Is(err, unified.ErrConflict) || errors.Is(err, unified.ErrUninitialized)):
	case !m.mayFail(err):
		t.Fatalf("elements %d to %d of side %d: %v", lo, hi, side, err)
	case side == host && m.exact && m.current(lo, hi):
		t.Fatalf("elements %d to %d are current on the host: %v", lo, hi, err)
	}
	m.drop(s)
	return false
}

// mayFail reports whether the check itself has caused an error.
func (m *unifiedModel) mayFail(err error) bool {
	return errors.Is(err, model.ErrInjected) && (m.armed || !m.exact) || errors.Is(err, device.ErrDeviceLost) && m.lost
}
