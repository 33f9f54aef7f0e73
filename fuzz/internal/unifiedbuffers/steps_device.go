package unifiedbuffers

import (
	"bytes"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
)

func (m *unifiedModel) readDevice(t *rapid.T) {
	lo, hi := m.pick(t)
	s := m.stream(t)
	b, err := m.block(s, m.view.Device, m.view.DeviceOn)
	if !m.judge(t, err, lo, hi, onDevice, toRead, s) {
		return
	}
	m.keepBlock(t, b, lo, hi)
	into := make([]byte, hi-lo)
	if !m.copy(t, s, device.Host(into), b) {
		return
	}
	r := lateRead{s, into, bytes.Clone(m.want[lo:hi])}
	if s == nil {
		sameBytes(t, into, r.want, lo)
	} else {
		m.reads = append(m.reads, r)
	}
	m.usedOn(t, s)
}

// block gets at the device side, directly or for a stream.
func (m *unifiedModel) block(s device.Stream, now func() (device.Block, error),
	on func(device.Stream) (device.Block, error)) (device.Block, error) {
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
	value := draw.Bytes(t, hi-lo)
	if m.copy(t, s, b, device.Host(value)) {
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
