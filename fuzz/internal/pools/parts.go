package pools

import (
	"errors"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// slice makes a part of a buffer, or of a part.
func (m *poolModel) slice(t *rapid.T) {
	m.needSpace(t)
	at := m.pick(t)
	i := rapid.IntRange(0, m.live[at].buffer.Len()).Draw(t, "from")
	j := rapid.IntRange(i, m.live[at].buffer.Len()).Draw(t, "to")
	b, err := m.live[at].buffer.Slice(i, j)
	model.OK(t, err)
	m.admitPart(t, m.live[at], b, i, j-i)
}

// share makes another handle of all that a buffer has.
func (m *poolModel) share(t *rapid.T) {
	m.needSpace(t)
	at := m.pick(t)
	b, err := m.live[at].buffer.Share()
	model.OK(t, err)
	m.admitPart(t, m.live[at], b, 0, m.live[at].buffer.Len())
}

// admitPart fails unless b is the n bytes of o at i.
func (m *poolModel) admitPart(t *rapid.T, o handle, b slab.PooledBuffer, i, n int) {
	t.Helper()
	whole, part, view := o.buffer.Block(), b.Block(), b.Bytes()
	if b.Len() != n || b.Cap() != n || part.Len != n || view != nil && (len(view) != n || cap(view) != n) {
		t.Fatalf("a part of %d bytes: Len %d, Cap %d, Block of %d, Bytes of %d, capacity %d", n, b.Len(), b.Cap(),
			part.Len, len(view), cap(view))
	}
	all := o.buffer.Bytes()
	if n > 0 && all != nil && unsafe.SliceData(view) != &all[i] || n > 0 && all == nil &&
		(part.Region != whole.Region || part.Off != whole.Off+i) {
		t.Fatalf("a part of %d bytes is not at byte %d of its buffer: %+v of %+v", n, i, part, whole)
	}
	o.of.handles++
	m.live = append(m.live, handle{buffer: b, of: o.of, at: o.at + i, part: true})
}

// write changes the bytes of a handle, which all that share them see.
func (m *poolModel) write(t *rapid.T) {
	o := &m.live[m.pick(t)]
	o.of.use.Wait(t)
	m.Bytes.Put(t, o.buffer.Block(), m.mark(o))
}

// sliceBad asks for bytes that a buffer does not have, and for some of one that was released.
func (m *poolModel) sliceBad(t *rapid.T) {
	if len(m.stale) > 0 {
		b := rapid.SampledFrom(m.stale).Draw(t, "stale")
		if _, err := b.Slice(0, b.Len()); !errors.Is(err, slab.ErrReleased) {
			t.Fatalf("Slice of a released buffer: %v", err)
		}
	}
	b := m.live[m.pick(t)].buffer
	i, j := draw.Negative(t), b.Len()
	switch rapid.IntRange(0, 2).Draw(t, "fault") {
	case 1:
		i, j = 0, b.Len()-i // beyond; the largest sum wraps to below 0
	case 2:
		i, j = b.Len()+1, b.Len()
	}
	if _, err := b.Slice(i, j); !errors.Is(err, slab.ErrSize) {
		t.Fatalf("Slice of bytes %d to %d of %d: error does not wrap slab.ErrSize: %v", i, j, b.Len(), err)
	}
}
