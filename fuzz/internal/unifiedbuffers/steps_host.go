package unifiedbuffers

import (
	"bytes"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/unified"
)

// check is the invariant: what the buffer says of itself.
func (m *unifiedModel) check(t *rapid.T) {
	if m.exact && m.ranges() > unified.MaxRanges {
		m.exact, m.counted = false, false // the buffer merges ranges then, and the model does not
	}
	if s := m.buf.State(); m.exact && s != m.state() {
		t.Fatalf("state is %v, not %v", s, m.state())
	}
}

// expect fails unless elements from lo are what they have to be.
func (m *unifiedModel) expect(t *rapid.T, got []byte, lo, hi int) {
	t.Helper()
	sameBytes(t, got, m.want[lo:hi], lo)
}

func sameBytes(t *rapid.T, got, want []byte, lo int) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("stale: element %d is %d, not %d", lo+i, got[i], want[i])
		}
	}
	t.Fatalf("%d elements, not %d", len(got), len(want))
}

func (m *unifiedModel) readHost(t *rapid.T) {
	lo, hi := m.pick(t)
	var got []byte
	var err error
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		got, err = m.view.Host()
	case 1:
		i, j := drawRange(t, hi-lo)
		got, err = m.view.HostRange(i, j)
		lo, hi = lo+i, lo+j
	case 2:
		got, err = m.view.ToSlice()
	default:
		got = make([]byte, hi-lo)
		err = m.view.CopyTo(got)
	}
	if m.judge(t, err, lo, hi, host, toRead, nil) {
		m.expect(t, got, lo, hi)
	}
}

// drawRange draws a part of n elements.
func drawRange(t *rapid.T, n int) (i, j int) {
	i = rapid.IntRange(0, n).Draw(t, "i")
	return i, rapid.IntRange(i, n).Draw(t, "j")
}

func (m *unifiedModel) writeHost(t *rapid.T) {
	lo, hi := m.pick(t)
	f := m.view.HostMut
	if rapid.Bool().Draw(t, "range") {
		i, j := drawRange(t, hi-lo)
		f = func() ([]byte, error) { return m.view.HostMutRange(i, j) }
		lo, hi = lo+i, lo+j
	}
	got, err := f()
	if !m.judge(t, err, lo, hi, host, toWrite, nil) {
		return
	}
	m.expect(t, got, lo, hi)
	m.write(t, got, lo)
	if hi-lo == len(m.want) {
		m.raw = got
	}
}

// write writes something new to a slice of the host side.
func (m *unifiedModel) write(t *rapid.T, to []byte, lo int) {
	copy(to, draw.Bytes(t, len(to)))
	copy(m.want[lo:], to)
}

func (m *unifiedModel) overwriteHost(t *rapid.T) {
	lo, hi := m.pick(t)
	got, err := m.view.HostOverwrite()
	if m.judge(t, err, lo, hi, host, toOverwrite, nil) {
		m.write(t, got, lo)
		m.knownAgain(t, lo, hi)
	}
}

// replace overwrites the host side by the methods that do all of it.
func (m *unifiedModel) replace(t *rapid.T) {
	lo, hi := m.pick(t)
	value := make([]byte, hi-lo)
	var err error
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		err = m.view.Zero()
	case 1:
		v := rapid.Byte().Draw(t, "value")
		device.Fill(value, v)
		err = m.view.Fill(v)
	default:
		value = draw.Bytes(t, hi-lo)
		err = m.view.CopyFrom(value)
	}
	if m.judge(t, err, lo, hi, host, toOverwrite, nil) {
		copy(m.want[lo:], value)
		m.knownAgain(t, lo, hi)
	}
}

// knownAgain makes the model exact when all was overwritten.
func (m *unifiedModel) knownAgain(t *rapid.T, lo, hi int) {
	if !m.exact && hi-lo == len(m.want) && !m.lost {
		m.settle(t)
		m.exact, m.counted = true, false
	}
}
