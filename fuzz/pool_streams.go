package fuzz

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Buffers whose contents streams write, and which are released before that is
// done. Whoever is given such memory too soon finds his own bytes overwritten
// later; memory that has gone upstream by then fails the stream.

// needStreams skips a step on a device, or an upstream, without streams to speak of.
func (m *poolModel) needStreams(t *rapid.T) {
	if m.bytes.dev == nil || !m.solid {
		m.skip(t, "there is no device whose streams could work")
	}
}

// stream draws a stream of the device, a new one at first.
func (m *poolModel) stream(t *rapid.T) device.Stream {
	m.needStreams(t)
	s := &m.streams[rapid.IntRange(0, modelStreams-1).Draw(t, "stream")]
	if *s == nil {
		var err error
		*s, err = m.bytes.dev.NewStream()
		ok(t, err)
	}
	return *s
}

// use has a stream write to a buffer, when whatever else is under way is done,
// and tells the pool.
func (m *poolModel) use(t *rapid.T) {
	s := m.stream(t)
	o := &m.live[m.pick(t)]
	if o.use != nil && o.use.stream != s {
		ok(t, s.Wait(o.use.event))
	}
	m.next++
	m.enqueue(t, o, s, m.next)
	ok(t, o.buffer.UsedOn(s))
}

// enqueue makes the contents of a buffer those of owner number id, some time.
func (m *poolModel) enqueue(t *rapid.T, o *handle, s device.Stream, id int) {
	o.id = id
	h := m.bytes.host(t, o.buffer.Len())
	copy(device.Bytes(h), mark(id, h.Len))
	ok(t, s.Copy(o.buffer.Block(), h))
	e, err := s.Record()
	ok(t, err)
	o.use = &modelUse{s, e}
}

// getOn gets a buffer that one stream alone has to do with, so far.
func (m *poolModel) getOn(t *rapid.T) {
	s := m.stream(t)
	m.needSpace(t)
	size := drawUpTo(t, m.maxSize, m.asked)
	b, err := m.pool.GetOn(size, s)
	if err != nil {
		if needRoomError(t, size, err); m.pool.Stats().WaitingBlocks != 0 {
			t.Fatalf("GetOn of %d bytes failed while blocks wait: %v", size, err)
		}
		return
	}
	m.judge(t, b, size)
	m.next++
	m.live = append(m.live, handle{buffer: b})
	m.enqueue(t, &m.live[len(m.live)-1], s, m.next)
}

// releaseBusy lets go of a buffer without a look at it, while streams may
// write to it.
func (m *poolModel) releaseBusy(t *rapid.T) {
	m.needStreams(t)
	i := m.pick(t)
	o := m.live[i]
	ok(t, o.buffer.Release())
	if err := o.buffer.UsedOn(&deadStream{}); !errors.Is(err, slab.ErrReleased) {
		t.Fatalf("UsedOn of a released buffer: %v", err)
	}
	m.live = append(m.live[:i], m.live[i+1:]...)
	m.stale = append(m.stale, o.buffer)
}

// A deadStream is one that nobody may call.
type deadStream struct{ device.Stream }

// settle waits for a stream, or closes it.
func (m *poolModel) settle(t *rapid.T) {
	s := m.stream(t)
	ok(t, s.Sync())
	if rapid.Bool().Draw(t, "close") {
		ok(t, s.Close())
		for i := range m.streams {
			if m.streams[i] == s {
				m.streams[i] = nil
			}
		}
	}
}

// calm waits until no stream writes to the buffer any more.
func (o *handle) calm(t *rapid.T) {
	if o.use != nil {
		ok(t, o.use.event.Sync())
		o.use = nil
	}
}
