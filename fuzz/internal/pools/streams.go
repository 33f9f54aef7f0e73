package pools

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// The steps of this file release buffers before the streams that write to them
// are done. If a pool hands such memory out too soon, the bytes of its next
// owner are overwritten later; if it gives the memory back, the stream fails.

// needStreams skips a step where no stream can write to memory.
func (m *poolModel) needStreams(t *rapid.T) {
	if m.Bytes.Dev == nil || !m.solid {
		m.Skip(t, "there is no device whose streams could work")
	}
}

// stream draws a stream of the device.
func (m *poolModel) stream(t *rapid.T) *device.Stream {
	m.needStreams(t)
	return m.streams.Draw(t, m.Bytes.Dev)
}

// use has a stream write to a buffer once other streams are done with it, and
// tells the pool.
func (m *poolModel) use(t *rapid.T) {
	s := *m.stream(t)
	o := &m.live[m.pick(t)]
	if o.buffer.Len() == 0 { // a part without bytes: UsedOn does nothing, and no stream writes
		model.OK(t, o.buffer.UsedOn(s))
		return
	}
	o.of.use.Join(t, s)
	m.enqueue(t, o, s)
	model.OK(t, o.buffer.UsedOn(s))
}

// enqueue has s write the mark of a new owner to a buffer.
func (m *poolModel) enqueue(t *rapid.T, o *handle, s device.Stream) {
	model.OK(t, s.Copy(o.buffer.Block(), device.Host(slices.Clone(m.mark(o)))))
	o.of.use = model.Record(t, s)
}

// getOn gets a buffer that only one stream uses so far.
func (m *poolModel) getOn(t *rapid.T) {
	s := *m.stream(t)
	m.needSpace(t)
	size := m.Size(t)
	b, err := m.pool.GetOn(size, s)
	if err != nil {
		if model.ExpectNoRoom(t, size, err); m.pool.Stats().WaitingBlocks != 0 {
			t.Fatalf("GetOn of %d bytes failed while blocks wait: %v", size, err)
		}
		return
	}
	m.judge(t, b, size)
	m.enqueue(t, m.add(b, m.madePlain(t)), s)
}

// releaseBusy releases a buffer that streams may still write to, so its contents
// are not checked.
func (m *poolModel) releaseBusy(t *rapid.T) {
	m.needStreams(t)
	i := m.pick(t)
	o := m.live[i]
	model.OK(t, o.buffer.Release())
	if err := o.buffer.UsedOn(&deadStream{}); !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("UsedOn of a released buffer: %v", err)
	}
	m.remove(i)
}

// A deadStream must not be called.
type deadStream struct{ device.Stream }

// settle waits for a stream, or closes it.
func (m *poolModel) settle(t *rapid.T) {
	s := m.stream(t)
	model.OK(t, (*s).Sync())
	if rapid.Bool().Draw(t, "close") {
		model.OK(t, (*s).Close())
		*s = nil
	}
}
