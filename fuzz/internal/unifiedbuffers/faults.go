package unifiedbuffers

import (
	"bytes"
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// settle waits for all streams and lets no more calls fail. It checks what the
// streams have read, and the counters.
func (m *unifiedModel) settle(t *rapid.T) {
	m.disarm()
	for _, s := range m.streams {
		if s == nil {
			continue
		}
		if err := s.Sync(); err != nil {
			if !m.mayFail(err) {
				t.Fatalf("Sync of a stream: %v", err)
			}
			m.drop(s)
		}
	}
	for _, s := range m.dropped {
		_ = s.Sync() // it has failed, but work from before may still count
	}
	m.dropped = nil
	m.lookAtReads(t)
	m.lookAtCounters(t)
}

// lookAtReads fails unless every stream that has not failed has read what was
// there when the read was enqueued.
func (m *unifiedModel) lookAtReads(t *rapid.T) {
	for _, r := range m.reads {
		if r.stream.Sync() == nil {
			sameBytes(t, r.into, r.want, 0)
		}
	}
	m.reads = nil
}

// lookAtCounters compares the bytes that have moved with those that had to.
func (m *unifiedModel) lookAtCounters(t *rapid.T) {
	if m.sim == nil || m.sim.Traits().CallBytes > 0 || m.lost {
		return
	}
	s := m.sim.Stats()
	got := traffic{s.ToDeviceBytes, s.ToHostBytes, s.CopyCalls}
	if m.counted && m.exact && got != m.moved {
		t.Fatalf("bytes to the device, to the host, calls: %d, and %d are the least", got, m.moved)
	}
	m.moved, m.counted = got, m.exact
}

// fail makes one of the next calls fail.
func (m *unifiedModel) fail(t *rapid.T) {
	m.settle(t)
	n := rapid.IntRange(1, 3).Draw(t, "call")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		m.sim.FailCopy(n, model.ErrInjected)
	case 1:
		m.sim.FailFill(n, model.ErrInjected)
	default:
		m.sim.FailAlloc(n, model.ErrInjected)
	}
	m.armed, m.counted = true, false
}

func (m *unifiedModel) disarm() {
	if m.armed {
		m.sim.FailCopy(0, model.ErrInjected)
		m.sim.FailFill(0, model.ErrInjected)
		m.sim.FailAlloc(0, model.ErrInjected)
		m.armed = false
	}
}

// lose loses the device at one of the next calls. It is rare, because the device
// does not come back.
func (m *unifiedModel) lose(t *rapid.T) {
	if m.lost || rapid.IntRange(0, 9).Draw(t, "lose") > 0 {
		m.Skip(t, "the device stays")
	}
	m.settle(t)
	m.sim.Lose(rapid.IntRange(1, 3).Draw(t, "call"))
	m.lost, m.counted = true, false
}

// markHost writes through a slice of an earlier access and marks the host side
// dirty. If that is refused, it restores the slice.
func (m *unifiedModel) markHost(t *rapid.T) {
	m.settle(t)
	lo, hi := m.pick(t)
	part := []byte{}
	if m.raw != nil {
		part = m.raw[lo:hi]
	}
	old := bytes.Clone(part)
	copy(part, draw.Bytes(t, len(part)))
	if m.judge(t, m.view.MarkHostDirty(), lo, hi, host, toMark, nil) {
		copy(m.want[lo:], part)
	} else {
		copy(part, old)
	}
}

// markDevice is markHost for the device side, by a block of an earlier access.
func (m *unifiedModel) markDevice(t *rapid.T) {
	m.settle(t)
	lo, hi := m.pick(t)
	if m.whole.Region == nil || m.lost {
		m.judge(t, m.view.MarkDeviceDirty(), lo, hi, onDevice, toMark, nil)
		return
	}
	part := device.Block{Region: m.whole.Region, Off: m.whole.Off + lo, Len: hi - lo}
	old, value := make([]byte, hi-lo), draw.Bytes(t, hi-lo)
	m.copy(t, nil, device.Host(old), part)
	m.copy(t, nil, part, device.Host(value))
	if m.judge(t, m.view.MarkDeviceDirty(), lo, hi, onDevice, toMark, nil) {
		copy(m.want[lo:], value)
	} else {
		m.copy(t, nil, part, device.Host(old))
	}
}

// renew frees the buffer while streams may use it, and makes another.
func (m *unifiedModel) renew(t *rapid.T) {
	m.free(t)
	m.begin(t)
}

func (m *unifiedModel) free(t *rapid.T) {
	model.OK(t, m.buf.Free())
	if _, err := m.buf.Host(); !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("Host after Free: %v", err)
	}
	if err := m.buf.Free(); !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("second Free: %v", err)
	}
}

// end reads both sides once more.
func (m *unifiedModel) end(t *rapid.T) {
	m.settle(t)
	n := len(m.want)
	m.view = m.buf
	got, err := m.view.Host()
	if m.judge(t, err, 0, n, host, toRead, nil) {
		m.expect(t, got, 0, n)
		b, err := m.view.Device()
		into := make([]byte, n)
		if m.judge(t, err, 0, n, onDevice, toRead, nil) && m.copy(t, nil, device.Host(into), b) {
			m.expect(t, into, 0, n)
		}
	}
	m.settle(t)
	m.free(t)
	model.OK(t, m.dev.Close())
}
