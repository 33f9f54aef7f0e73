package references

import (
	"bytes"
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// referenceModel is a lender beside what its arrays must hold, and what texts must open.
type referenceModel struct {
	model.Patience
	lender   Lender
	released error

	live  []*holder
	texts []string
	named map[string]*holder // by text
	next  int                // number of the next mark
}

// A holder has an array, with others if references to it were opened.
type holder struct {
	Holder
	of   *array
	text string // "" until it was asked for
}

// An array is what all holders of a request have.
type array struct {
	key     int
	want    []byte
	holders int
}

// keys are few, so that the next owner of a key comes soon.
const keys = 3

func (m *referenceModel) get(t *rapid.T) {
	key := rapid.IntRange(0, keys-1).Draw(t, "key")
	n := min(draw.Size(t), 5000)
	h, err := m.lender.Get(key, n)
	model.OK(t, err)
	for _, o := range m.live {
		if h != nil && n > 0 && o.of.key == key && same(t, o, h) {
			t.Fatalf("key %d has two owners", key)
		}
	}
	if h != nil {
		m.admit(t, h, &array{key: key, want: make([]byte, n)})
		m.fill(t, m.live[len(m.live)-1])
	}
}

// same reports whether two holders have the same memory.
func same(t *rapid.T, a, b Holder) bool {
	x, err := a.Bytes()
	model.OK(t, err)
	y, err := b.Bytes()
	model.OK(t, err)
	return len(x) > 0 && len(y) > 0 && &x[0] == &y[0]
}

func (m *referenceModel) admit(t *rapid.T, h Holder, of *array) {
	of.holders++
	m.live = append(m.live, &holder{Holder: h, of: of})
}

func (m *referenceModel) fill(t *rapid.T, h *holder) {
	own, err := h.Bytes()
	model.OK(t, err)
	m.next++
	copy(own, model.Mark(m.next, len(own)))
	copy(h.of.want, own)
}

func (m *referenceModel) pick(t *rapid.T) *holder {
	if len(m.live) == 0 {
		m.Skip(t, "nothing is out")
	}
	return rapid.SampledFrom(m.live).Draw(t, "holder")
}

func (m *referenceModel) write(t *rapid.T) { m.fill(t, m.pick(t)) }

// name takes the text of a holder's reference: it has one, and no other holder has it.
func (m *referenceModel) name(t *rapid.T) {
	h := m.pick(t)
	text := h.Text()
	switch o := m.named[text]; {
	case text == "", h.text != "" && h.text != text:
		t.Fatalf("a holder has the references %q and %q", h.text, text)
	case o != nil && o != h:
		t.Fatalf("two holders have the reference %q", text)
	case o == nil:
		m.texts = append(m.texts, text)
	}
	h.text, m.named[text] = text, h
}

// open opens a text: that of a holder which is out, and no other.
func (m *referenceModel) open(t *rapid.T) {
	if len(m.texts) == 0 {
		m.Skip(t, "no reference was taken")
	}
	m.openText(t, rapid.SampledFrom(m.texts).Draw(t, "text"))
}

func (m *referenceModel) openText(t *rapid.T, text string) {
	t.Helper()
	to := m.named[text]
	h, err := m.lender.Open(text)
	if !slices.Contains(m.live, to) {
		if !errors.Is(err, m.released) {
			t.Fatalf("the reference of a released array opens: %v", err)
		}
		return
	}
	model.OK(t, err)
	if len(to.of.want) > 0 && !same(t, to, h) {
		t.Fatal("a reference opens other memory")
	}
	m.admit(t, h, to.of)
}

// release ends a holder, and no other.
func (m *referenceModel) release(t *rapid.T) { m.end1(t, m.pick(t)) }

func (m *referenceModel) end1(t *rapid.T, h *holder) {
	t.Helper()
	model.OK(t, h.Release())
	if err := h.Release(); !errors.Is(err, m.released) {
		t.Fatalf("a second Release: %v", err)
	}
	if text := h.Text(); text != "" {
		t.Fatalf("what was released has the reference %q", text)
	}
	h.of.holders--
	m.live = slices.DeleteFunc(m.live, func(o *holder) bool { return o == h })
}

// check is the invariant: all holders of an array see what was written last, and none sees another's.
func (m *referenceModel) check(t *rapid.T) {
	for _, h := range m.live {
		own, err := h.Bytes()
		model.OK(t, err)
		if !bytes.Equal(own, h.of.want) {
			t.Fatalf("an array of %d bytes is not as its owners have left it", len(h.of.want))
		}
	}
}

// end closes the lender: what is out can be opened still, and nothing else.
func (m *referenceModel) end(t *rapid.T) {
	model.OK(t, m.lender.Close(len(m.live)))
	for _, text := range m.texts {
		m.openText(t, text)
	}
	m.check(t)
	for len(m.live) > 0 {
		m.end1(t, m.live[0])
	}
	for _, text := range m.texts {
		m.openText(t, text)
	}
}
