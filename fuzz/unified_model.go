package fuzz

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// unifiedModel is a buffer beside what it must hold, element by element.
//
// As long as it is exact it knows everything: states, bytes that move and calls.
// When work on a stream may have failed nobody knows what was
// copied; then reads may fail and marks may conflict, but what is read is right.
type unifiedModel struct {
	patience
	dev      device.Device
	sim      simulated // nil where nothing can be made to fail
	open     func(dev device.Device, n int) (UnifiedBuffer, error)
	contents contents

	buf     UnifiedBuffer
	view    UnifiedBuffer // of a step, buf or a part of it
	want    []byte
	cells   []residence
	raw     []byte       // all of the host side, from an access before; nil if there was none
	whole   device.Block // all of the device side, likewise
	streams []device.Stream
	dropped []device.Stream // have failed, and nobody has waited for them
	reads   []lateRead
	exact   bool
	armed   bool // something is to fail or has failed, and nobody has looked
	lost    bool
	moved   traffic // what the buffer and the check have to have moved
	counted bool    // moved is true
}

// A residence says where an element is current, and whether it was written there
// since it was last anywhere else.
type residence struct {
	in    [2]bool
	dirty bool
}

const host, onDevice = 0, 1

// A lateRead is what a stream has been told to read, and what it must find.
type lateRead struct {
	stream device.Stream
	into   device.Block
	want   []byte
}

// traffic is what a simulated device counts.
type traffic struct{ toDevice, toHost, calls int64 }

// simulated is what a device that fails on command can do: a [device.Sim].
type simulated interface {
	FailAlloc(n int, err error)
	FailCopy(n int, err error)
	FailFill(n int, err error)
	Lose(n int)
	CallBytes() int
	Stats() device.SimStats
}

func (m *unifiedModel) begin(t *rapid.T) {
	n := min(drawSize(t), 150)
	b, err := m.open(m.dev, n)
	ok(t, err)
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
	ok(t, err)
	m.view = b
	return lo, hi
}

// stream draws one, or nil for none. One that has failed is replaced; it stays
// open, as a stream that was closed tells nothing any more.
func (m *unifiedModel) stream(t *rapid.T) device.Stream {
	i := rapid.IntRange(-1, len(m.streams)-1).Draw(t, "stream")
	if i < 0 || m.lost {
		return nil
	}
	if m.streams[i] == nil {
		s, err := m.dev.NewStream()
		ok(t, err)
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

// What a side is wanted for; the words are those of package unified.
type purpose int

const (
	toRead purpose = iota
	toWrite
	toOverwrite
	toSync
	toMark
)

// refusal is the error that an access must give, or nil.
func (m *unifiedModel) refusal(lo, hi, side int, w purpose) error {
	if w != toMark {
		return nil
	}
	for _, c := range m.cells[lo:hi] {
		if !c.in[side] && c.in[1-side] && c.dirty {
			return unified.ErrConflict
		}
		if !c.in[side] {
			return unified.ErrUninitialized
		}
	}
	return nil
}

// grant makes an access done that was allowed: it moves what it has to.
func (m *unifiedModel) grant(lo, hi, side int, w purpose) {
	pulled := false
	for i := lo; i < hi; i++ {
		c := &m.cells[i]
		pull := c.in[1-side] && !c.in[side] && w != toOverwrite && w != toMark
		m.moved.count(side, pull, pulled)
		pulled = pull
		switch {
		case pull:
			c.in, c.dirty = [2]bool{true, true}, false
		case !c.in[side] && w != toSync:
			c.in[side] = true
		}
		if w == toWrite || w == toOverwrite || w == toMark {
			c.in[1-side], c.dirty = false, true
		}
	}
}

// count counts a byte that moves to a side, in the call of the byte before if
// that moved too.
func (f *traffic) count(side int, moves, before bool) {
	if !moves {
		return
	}
	if side == host {
		f.toHost++
	} else {
		f.toDevice++
	}
	if !before {
		f.calls++
	}
}

// state is what the buffer has to say of itself.
func (m *unifiedModel) state() unified.State {
	weight := []unified.State{unified.Uninitialized, unified.Synchronized, unified.HostOnly, unified.DeviceOnly, unified.HostDirty, unified.DeviceDirty}
	most := 0
	for _, c := range m.cells {
		k := 0
		switch {
		case c.in[host] && c.in[onDevice]:
			k = 1
		case c.in[host] || c.in[onDevice]:
			k = 2
			if c.in[onDevice] {
				k++
			}
			if c.dirty {
				k += 2
			}
		}
		most = max(most, k)
	}
	return weight[most]
}

// ranges is how many the buffer has to keep apart.
func (m *unifiedModel) ranges() (n int) {
	for i, c := range m.cells {
		if i == 0 || c != m.cells[i-1] {
			n++
		}
	}
	return n
}

// judge looks at the error of an access. It reports whether the access was
// granted, and accounts for it then. In a program without failures there are
// none but refusals, and those are exact.
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

// mayFail reports whether an error is one that the check has brought about.
func (m *unifiedModel) mayFail(err error) bool {
	return errors.Is(err, errInjected) && (m.armed || !m.exact) || errors.Is(err, device.ErrDeviceLost) && m.lost
}

// current reports whether the host side has the elements.
func (m *unifiedModel) current(lo, hi int) bool {
	for _, c := range m.cells[lo:hi] {
		if !c.in[host] {
			return false
		}
	}
	return true
}
