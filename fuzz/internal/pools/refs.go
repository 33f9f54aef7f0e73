package pools

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// A reference is the Ref that was taken of a handle.
type reference struct {
	ref slab.Ref
	to  slab.PooledBuffer
}

// ref takes the Ref of a handle. Copies of a handle have one, and no other handle has it.
func (m *poolModel) ref(t *rapid.T) {
	b := m.live[m.pick(t)].buffer
	r := b.Ref()
	if r == (slab.Ref{}) || r != b.Ref() {
		t.Fatalf("a buffer that is out has the Refs %v and %v", r, b.Ref())
	}
	for _, o := range m.refs {
		if (o.ref == r) != (o.to == b) {
			t.Fatalf("two handles have the Ref %v, or one handle has another Ref too: %v", r, o.ref)
		}
	}
	m.refs = append(m.refs, reference{r, b})
}

// resolve opens a Ref, by its text. It must be a part of the handle that the Ref was taken of, and
// nothing after that was released.
func (m *poolModel) resolve(t *rapid.T) {
	m.needSpace(t)
	if len(m.refs) == 0 {
		m.Skip(t, "no Ref was taken")
	}
	r := rapid.SampledFrom(m.refs).Draw(t, "ref")
	ref, err := slab.ParseRef(r.ref.String())
	model.OK(t, err)
	b, err := ref.Get()
	for _, o := range m.live {
		if o.buffer == r.to {
			model.OK(t, err)
			m.admitPart(t, o, b, 0, o.buffer.Len())
			return
		}
	}
	needStale(t, b, err)
}

func needStale(t *rapid.T, b slab.PooledBuffer, err error) {
	t.Helper()
	if !errors.Is(err, slab.ErrReleased) || b != (slab.PooledBuffer{}) {
		t.Fatalf("the Ref of a released buffer opens %d bytes: %v", b.Len(), err)
	}
}

// refStale takes the Ref of a buffer that was released: there is none.
func (m *poolModel) refStale(t *rapid.T) {
	if len(m.stale) == 0 {
		m.Skip(t, "no buffer was released")
	}
	if r := rapid.SampledFrom(m.stale).Draw(t, "stale").Ref(); r != (slab.Ref{}) {
		t.Fatalf("a released buffer has the Ref %v", r)
	}
}

// checkRefs is for the end: all that is out can be opened in a closed pool, and nothing else.
func (m *poolModel) checkRefs(t *rapid.T) {
	t.Helper()
	out := map[slab.PooledBuffer]bool{}
	for _, o := range m.live {
		out[o.buffer] = true
	}
	for _, r := range m.refs {
		b, err := r.ref.Get()
		if !out[r.to] {
			needStale(t, b, err)
			continue
		}
		model.OK(t, err)
		model.OK(t, b.Release())
	}
}
