package pools

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// grow grows a buffer or cuts it, also one that a stream still writes to. Where that fails
// the buffer is as before.
func (m *poolModel) grow(t *rapid.T) {
	i, size := m.pick(t), m.Size(t)
	model.MayLackRoom(t, size, m.growTo(t, i, size))
}

// growMuch doubles a buffer, as a builder does: the memory after it is what is wanted.
func (m *poolModel) growMuch(t *rapid.T) {
	i := m.pick(t)
	size := min(2*m.live[i].buffer.Len(), m.MaxSize)
	model.MayLackRoom(t, size, m.growTo(t, i, size))
}

func (m *poolModel) growFails(t *rapid.T) {
	i, size := m.pick(t), m.Size(t)
	m.Fails(t, size, func() error { return m.growTo(t, i, size) })
}

// growTo is tryGrow, which may not be possible where there is nothing to clear.
func (m *poolModel) growTo(t *rapid.T, i, size int) error {
	t.Helper()
	if err := m.tryGrow(t, i, size); !m.unavailable(err) {
		return err
	}
	return nil
}

// tryGrow grows buffer i. The new one must have the contents and be alone in its memory.
func (m *poolModel) tryGrow(t *rapid.T, i, size int) error {
	t.Helper()
	o := m.live[i]
	room := o.buffer.Cap()
	b, err := o.buffer.Grow(size)
	if err != nil {
		if b != o.buffer {
			t.Fatalf("Grow to %d bytes: %v, and the handle is lost", size, err)
		}
		if size <= room && !m.Stopped && !o.part && o.of.handles == 1 && !m.clears(o.buffer, size) {
			t.Fatalf("Grow to %d bytes of a block of %d: %v", size, room, err)
		}
		return err
	}
	m.remove(i)
	m.judge(t, b, size)
	if b.Cap() < size {
		t.Fatalf("Grow to %d bytes: a block of %d", size, b.Cap())
	}
	busy, stream := !o.of.use.Done(), o.of.use.Stream
	o.of.use.Wait(t)
	kept := min(size, o.buffer.Len())
	got := m.Bytes.Get(t, b.Block())
	if got != nil {
		model.ExpectBytes(t, got[:kept], o.want()[:kept])
		if m.Zeroed {
			model.ExpectZeros(t, got[kept:])
		}
	}
	n := m.add(b, o.of.plain)
	if busy && o.buffer.Len() > 0 { // the pool knows that the stream uses the buffer
		m.enqueue(t, n, stream)
	} else {
		m.Bytes.Put(t, b.Block(), m.mark(n))
	}
	return nil
}

// clears reports whether a Grow of b clears what the CPU does not reach: in a new buffer.
func (m *poolModel) clears(b slab.PooledBuffer, size int) bool {
	return m.Zeroed && size > b.Len() && device.Bytes(b.Block()) == nil
}

// growStale grows a buffer that was released or grown, and to fewer bytes than none.
func (m *poolModel) growStale(t *rapid.T) {
	if len(m.stale) > 0 {
		b := rapid.SampledFrom(m.stale).Draw(t, "stale")
		if _, err := b.Grow(b.Len()); !errors.Is(err, slab.ErrReleased) {
			t.Fatalf("Grow of a released buffer: %v", err)
		}
	}
	if len(m.live) > 0 {
		size := draw.Negative(t)
		if _, err := m.live[m.pick(t)].buffer.Grow(size); !errors.Is(err, slab.ErrSize) {
			t.Fatalf("Grow to %d bytes: error does not wrap slab.ErrSize: %v", size, err)
		}
	}
}
