package fuzz

import (
	"bytes"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// check is the invariant: what the buffer says of itself.
func (m *unifiedModel) check(t *rapid.T) {
	if m.exact && m.ranges() > unified.MaxRanges {
		m.exact, m.counted = false, false // what is merged then is not the matter here
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
	copy(to, drawBytes(t, len(to)))
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
		fill(value, v)
		err = m.view.Fill(v)
	default:
		value = drawBytes(t, hi-lo)
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

func (m *unifiedModel) readDevice(t *rapid.T) {
	lo, hi := m.pick(t)
	s := m.stream(t)
	b, err := m.block(s, m.view.Device, m.view.DeviceOn)
	if !m.judge(t, err, lo, hi, onDevice, toRead, s) {
		return
	}
	m.keepBlock(t, b, lo, hi)
	into := m.contents.host(t, hi-lo)
	if !m.copy(t, s, into, b) {
		return
	}
	r := lateRead{s, into, bytes.Clone(m.want[lo:hi])}
	if s == nil {
		sameBytes(t, device.Bytes(into), r.want, lo)
	} else {
		m.reads = append(m.reads, r)
	}
	m.usedOn(t, s)
}

// block gets at the device side, directly or for a stream.
func (m *unifiedModel) block(s device.Stream, now func() (device.Block, error), on func(device.Stream) (device.Block, error)) (device.Block, error) {
	if s == nil {
		return now()
	}
	return on(s)
}

// keepBlock keeps the whole device side, for marks.
func (m *unifiedModel) keepBlock(t *rapid.T, b device.Block, lo, hi int) {
	if b.Len != hi-lo {
		t.Fatalf("a block of %d bytes for %d elements", b.Len, hi-lo)
	}
	if b.Len == len(m.want) {
		m.whole = b
	}
}

func (m *unifiedModel) writeDevice(t *rapid.T) {
	lo, hi := m.pick(t)
	s, how, now, on := m.stream(t), toWrite, m.view.DeviceMut, m.view.DeviceMutOn
	if rapid.Bool().Draw(t, "overwrite") {
		how, now, on = toOverwrite, m.view.DeviceOverwrite, m.view.DeviceOverwriteOn
	}
	b, err := m.block(s, now, on)
	if !m.judge(t, err, lo, hi, onDevice, how, s) {
		return
	}
	m.keepBlock(t, b, lo, hi)
	value := drawBytes(t, hi-lo)
	from := m.contents.host(t, hi-lo)
	copy(device.Bytes(from), value)
	if m.copy(t, s, b, from) {
		copy(m.want[lo:], value)
	} else if how == toOverwrite {
		m.undo(t, lo, hi) // the contents are anything
		return
	}
	m.usedOn(t, s)
}

// undo overwrites what was to be overwritten, and was not.
func (m *unifiedModel) undo(t *rapid.T, lo, hi int) {
	v, err := m.view.HostOverwrite()
	if m.judge(t, err, lo, hi, host, toOverwrite, nil) {
		copy(v, m.want[lo:hi])
		return
	}
	m.renew(t)
}

// copy is a copy of the check's own. It reports whether it was done or enqueued.
func (m *unifiedModel) copy(t *rapid.T, s device.Stream, dst, src device.Block) bool {
	t.Helper()
	var err error
	if s == nil {
		err = m.dev.Copy(dst, src)
	} else {
		err = s.Copy(dst, src)
	}
	if err != nil {
		if !m.mayFail(err) {
			t.Fatalf("copy of %d bytes: %v", dst.Len, err)
		}
		m.counted = false
		m.drop(s)
		return false
	}
	m.moved.calls++
	if device.Bytes(dst) == nil {
		m.moved.toDevice += int64(dst.Len)
	} else {
		m.moved.toHost += int64(dst.Len)
	}
	return true
}

// usedOn says now and then that a stream has got all its work.
func (m *unifiedModel) usedOn(t *rapid.T, s device.Stream) {
	if s == nil || !rapid.Bool().Draw(t, "used") {
		return
	}
	if err := m.view.UsedOn(s); err != nil {
		if !m.mayFail(err) {
			t.Fatal(err)
		}
		m.drop(s)
	}
}

func (m *unifiedModel) sync(t *rapid.T) {
	lo, hi := m.pick(t)
	s, side, now, on := m.stream(t), host, m.view.SyncToHost, m.view.SyncToHostOn
	if rapid.Bool().Draw(t, "to device") {
		side, now, on = onDevice, m.view.SyncToDevice, m.view.SyncToDeviceOn
	}
	var err error
	if s == nil {
		err = now()
	} else {
		err = on(s)
	}
	m.judge(t, err, lo, hi, side, toSync, s)
}
