package fuzz_test

import (
	"bytes"
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// This file checks what gives out references to arrays: leases of a growpool.Pool and unified buffers. A model knows
// for each text of a reference what it has to open, and what the arrays hold.

// A lender has arrays of bytes.
type lender interface {
	// Get returns an array of n bytes of a key. It returns nil, nil if the key's array is out.
	Get(key, n int) (holder, error)
	// Open opens the text of a reference.
	Open(text string) (holder, error)
	// Close ends the lender. What is out stays good.
	Close(out int) error
}

// A holder is one of those that have an array.
type holder interface {
	Bytes() ([]byte, error) // nil where it was released
	Text() string           // of its reference, "" where it was released
	Release() error
}

// referenceProperty is the property of lenders that open makes: released is the error of what was released.
func referenceProperty(open func() (lender, error), released error) func(*rapid.T) {
	return func(t *rapid.T) {
		l, err := open()
		model.OK(t, err)
		m := &referenceModel{lender: l, released: released, named: map[string]*member{}}
		model.Repeat(t, map[string]func(*rapid.T){
			"":        m.check,
			"get":     m.get,
			"name":    m.name,
			"open":    m.open,
			"openNow": m.open,
			"release": m.release,
			"write":   m.write,
		})
		m.end(t)
	}
}

// referenceModel is a lender beside what its arrays must hold, and what texts must open.
type referenceModel struct {
	model.Patience
	lender   lender
	released error

	live  []*member
	texts []string
	named map[string]*member // by text
	next  int                // number of the next mark
}

// A member has an array, with others if references to it were opened.
type member struct {
	holder
	of   *lentArray
	text string // "" until it was asked for
}

// A lentArray is what all holders of a request have.
type lentArray struct {
	key     int
	want    []byte
	holders int
}

// lentKeys are few, so that the next owner of a key comes soon.
const lentKeys = 3

func (m *referenceModel) get(t *rapid.T) {
	key := rapid.IntRange(0, lentKeys-1).Draw(t, "key")
	n := min(draw.Size(t), 5000)
	h, err := m.lender.Get(key, n)
	model.OK(t, err)
	for _, o := range m.live {
		if h != nil && n > 0 && o.of.key == key && sameMemory(t, o, h) {
			t.Fatalf("key %d has two owners", key)
		}
	}
	if h != nil {
		m.admit(t, h, &lentArray{key: key, want: make([]byte, n)})
		m.fill(t, m.live[len(m.live)-1])
	}
}

// sameMemory reports whether two holders have the same memory.
func sameMemory(t *rapid.T, a, b holder) bool {
	x, err := a.Bytes()
	model.OK(t, err)
	y, err := b.Bytes()
	model.OK(t, err)
	return len(x) > 0 && len(y) > 0 && &x[0] == &y[0]
}

func (m *referenceModel) admit(t *rapid.T, h holder, of *lentArray) {
	of.holders++
	m.live = append(m.live, &member{holder: h, of: of})
}

func (m *referenceModel) fill(t *rapid.T, h *member) {
	own, err := h.Bytes()
	model.OK(t, err)
	m.next++
	copy(own, model.Mark(m.next, len(own)))
	copy(h.of.want, own)
}

func (m *referenceModel) pick(t *rapid.T) *member {
	if len(m.live) == 0 {
		m.Skip(t, "nothing is out")
	}
	return rapid.SampledFrom(m.live).Draw(t, "member")
}

func (m *referenceModel) write(t *rapid.T) { m.fill(t, m.pick(t)) }

// name takes the text of a member's reference: it has one, and no other member has it.
func (m *referenceModel) name(t *rapid.T) {
	h := m.pick(t)
	text := h.Text()
	switch o := m.named[text]; {
	case text == "", h.text != "" && h.text != text:
		t.Fatalf("a member has the references %q and %q", h.text, text)
	case o != nil && o != h:
		t.Fatalf("two holders have the reference %q", text)
	case o == nil:
		m.texts = append(m.texts, text)
	}
	h.text, m.named[text] = text, h
}

// open opens a text: that of a member which is out, and no other.
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
	if len(to.of.want) > 0 && !sameMemory(t, to, h) {
		t.Fatal("a reference opens other memory")
	}
	m.admit(t, h, to.of)
}

// release ends a member, and no other.
func (m *referenceModel) release(t *rapid.T) { m.end1(t, m.pick(t)) }

func (m *referenceModel) end1(t *rapid.T, h *member) {
	t.Helper()
	model.OK(t, h.Release())
	if err := h.Release(); !errors.Is(err, m.released) {
		t.Fatalf("a second Release: %v", err)
	}
	if text := h.Text(); text != "" {
		t.Fatalf("what was released has the reference %q", text)
	}
	h.of.holders--
	m.live = slices.DeleteFunc(m.live, func(o *member) bool { return o == h })
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
