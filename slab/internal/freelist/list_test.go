package freelist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A modelList is a List as a slice, the oldest first.
type modelList struct {
	items []node
	epoch uint32
}

func (m *modelList) bytes() (n int64) {
	for _, it := range m.items {
		n += it.size
	}
	return n
}

// pick removes the youngest of a key.
func (m *modelList) pick(key int) (device.Block, bool) {
	for i := len(m.items) - 1; i >= 0; i-- {
		if m.items[i].key == key {
			b := m.items[i].block
			m.items = slices.Delete(m.items, i, i+1)
			return b, true
		}
	}
	return device.Block{}, false
}

func (m *modelList) oldest(n int) (out []device.Block) {
	for _, it := range m.items[:n] {
		out = append(out, it.block)
	}
	m.items = slices.Delete(m.items, 0, n)
	return out
}

// shrinkTo lets the oldest go until the bounds are kept.
func (m *modelList) shrinkTo(blocks int, bytes int64) (out []device.Block) {
	for len(m.items) > blocks || m.bytes() > bytes {
		out = append(out, m.oldest(1)...)
	}
	return out
}

func (m *modelList) keys() (k []int) {
	for _, it := range m.items {
		k = append(k, it.key)
	}
	slices.Sort(k)
	return k
}

const (
	maxBytes      = 20_000
	maxBlocks     = 30
	maxBlockBytes = 1500
)

func TestListLikeAModel(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		for seed := range uint64(10) {
			w := listWalk{t: t, r: rand.New(rand.NewPCG(seed, 4)), ordered: ordered,
				l: New(Options{MaxBytes: maxBytes, MaxBlocks: maxBlocks, MaxBlockBytes: maxBlockBytes, Ordered: ordered})}
			for range 3000 {
				w.step()
				if err := w.l.check(); err != nil {
					t.Fatal(err)
				}
				if w.l.blocks != len(w.m.items) || w.l.bytes != w.m.bytes() {
					t.Fatalf("%d bytes in %d blocks, want %d in %d", w.l.bytes, w.l.blocks, w.m.bytes(), len(w.m.items))
				}
			}
		}
	}
}

type listWalk struct {
	t       *testing.T
	r       *rand.Rand
	l       *List
	m       modelList
	ordered bool
}

func (w *listWalk) step() {
	key := w.r.IntN(20)
	switch k := w.r.IntN(20); {
	case k < 11:
		w.push(key)
	case k < 15:
		got, ok := w.l.Pop(key)
		want, has := w.m.pick(key)
		w.same([]device.Block{got}, []device.Block{want})
		if ok != has {
			w.t.Fatalf("Pop(%d): %v, want %v", key, ok, has)
		}
	case k < 17:
		w.popRange(key, key+w.r.IntN(4))
	case k < 18:
		w.popVictim()
	case k < 19:
		w.trim(w.r.IntN(4))
	default:
		n := w.r.IntN(maxBlocks)
		w.same(w.l.Shrink(n, maxBytes/2, nil), w.m.shrinkTo(n, maxBytes/2))
	}
}

func (w *listWalk) push(key int) {
	it := node{block: upstreamtest.Block(1 + w.r.IntN(2000)), key: key, stamp: w.m.epoch}
	it.size = int64(it.block.Len)
	got := w.l.Push(key, it.block, it.size, nil)
	if it.size > maxBlockBytes {
		w.same(got, []device.Block{it.block})
		return
	}
	w.m.items = append(w.m.items, it)
	w.same(got, w.m.shrinkTo(maxBlocks, maxBytes))
}

func (w *listWalk) popRange(lo, hi int) {
	if !w.ordered {
		return
	}
	want := device.Block{}
	i := slices.IndexFunc(w.m.keys(), func(k int) bool { return lo <= k && k <= hi })
	key := 0
	if i >= 0 {
		key = w.m.keys()[i]
		want, _ = w.m.pick(key)
	}
	got, k, ok := w.l.PopRange(lo, hi)
	if got != want || ok != (i >= 0) || ok && k != key {
		w.t.Fatalf("PopRange(%d, %d) = %v, %d, %v, want %v", lo, hi, got, k, ok, want)
	}
}

// popVictim parts with the largest key, or with the oldest.
func (w *listWalk) popVictim() {
	got, ok := w.l.PopVictim()
	if len(w.m.items) == 0 {
		if ok {
			w.t.Fatalf("%v from an empty list", got)
		}
		return
	}
	var want device.Block
	if w.ordered {
		keys := w.m.keys()
		want, _ = w.m.pick(keys[len(keys)-1])
	} else {
		want = w.m.oldest(1)[0]
	}
	w.same([]device.Block{got}, []device.Block{want})
}

func (w *listWalk) trim(idle int) {
	n := 0
	for n < len(w.m.items) && w.m.epoch-w.m.items[n].stamp >= uint32(idle) {
		n++
	}
	w.same(w.l.Trim(idle, nil), w.m.oldest(n))
	w.m.epoch++
}

var unbounded = Options{MaxBytes: math.MaxInt64, MaxBlocks: math.MaxInt, MaxBlockBytes: math.MaxInt64, Ordered: true}

func (w *listWalk) same(got, want []device.Block) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Fatalf("got %v, want %v", got, want)
	}
}

func TestAStoppedListHoldsNothing(t *testing.T) {
	l := New(unbounded)
	a, b := upstreamtest.Block(10), upstreamtest.Block(20)
	l.Push(1, a, 10, nil)
	if out := l.Stop(nil); !slices.Equal(out, []device.Block{a}) {
		t.Errorf("stop left %v", out)
	}
	if out := l.Push(1, b, 20, nil); !slices.Equal(out, []device.Block{b}) || l.blocks != 0 {
		t.Errorf("a stopped list took %v", out)
	}
}

func TestListOfNothingHoldsNothing(t *testing.T) {
	for _, o := range []Options{{MaxBlocks: 9, MaxBlockBytes: 99}, {MaxBytes: 99, MaxBlockBytes: 99}} {
		l := New(o)
		if out := l.Push(1, upstreamtest.Block(10), 10, nil); len(out) != 1 || l.blocks != 0 {
			t.Errorf("%+v: %d blocks held", o, l.blocks)
		}
	}
}

func TestListAllocatesNothingInSteadyState(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		o := unbounded
		o.Ordered = ordered
		l := New(o)
		var b [64]device.Block
		for i := range b {
			b[i] = upstreamtest.Block(1 + i)
		}
		if n := check.Allocs(500, func() {
			for i := range b {
				l.Push(i, b[i], 1, nil)
			}
			for i := range b {
				l.Pop(i)
			}
		}); n != 0 {
			t.Errorf("ordered %v: %v allocations", ordered, n)
		}
		if n := len(l.nodes) - 1; n != len(b) {
			t.Errorf("ordered %v: %d nodes for %d blocks at a time", ordered, n, len(b))
		}
	}
}

// A block that is larger than all that may be held drives no other out.
func TestABlockAboveTheBoundLeavesAlone(t *testing.T) {
	l := New(Options{MaxBytes: 100, MaxBlocks: 10, MaxBlockBytes: math.MaxInt64})
	small, large := upstreamtest.Block(60), upstreamtest.Block(101)
	l.Push(1, small, 60, nil)
	if out := l.Push(2, large, 101, nil); len(out) != 1 || out[0] != large || l.Bytes() != 60 {
		t.Errorf("%v had to leave, %d bytes stay", out, l.Bytes())
	}
}

// on returns an ordered List, and what says which processor its caller runs on.
func on() (l *List, processor *int) {
	processor = new(int)
	return New(Options{MaxBytes: math.MaxInt64, MaxBlocks: math.MaxInt, MaxBlockBytes: math.MaxInt64, Ordered: true,
		Processor: func() int { return *processor }}), processor
}

// A block goes to the processor that pushed it, even where a smaller one or a younger one is there; to another
// processor as if there were none, and so does each to a List that does not know processors.
func TestBlocksStayWithTheirProcessor(t *testing.T) {
	for _, c := range []struct {
		processor int
		pop       func(*List) (device.Block, bool)
		want      int // Block.Off
	}{
		{0, func(l *List) (device.Block, bool) { return l.Pop(5) }, 51},
		{1, func(l *List) (device.Block, bool) { return l.Pop(5) }, 52},
		{2, func(l *List) (device.Block, bool) { return l.Pop(5) }, 52},
		{0, func(l *List) (device.Block, bool) { b, _, ok := l.PopRange(3, 6); return b, ok }, 51},
		{1, func(l *List) (device.Block, bool) { b, _, ok := l.PopRange(3, 6); return b, ok }, 41},
		{2, func(l *List) (device.Block, bool) { b, _, ok := l.PopRange(3, 6); return b, ok }, 41},
		{3, func(l *List) (device.Block, bool) { b, _, ok := l.PopRange(3, 6); return b, ok }, 41}, // its own is too large
		{3, func(l *List) (device.Block, bool) { b, _, ok := l.PopRange(3, 7); return b, ok }, 71},
		{0, func(l *List) (device.Block, bool) { b, _, ok := l.PopRange(0, 6); return b, ok }, 1},
	} {
		l, processor := on()
		for _, b := range []struct{ on, key, off int }{{0, 0, 1}, {1, 0, 2}, {0, 5, 50}, {0, 5, 51}, {1, 5, 52}, {1, 4, 41}, {3, 7, 71}} {
			*processor = b.on
			l.Push(b.key, device.Block{Off: b.off}, 1, nil)
		}
		*processor = c.processor
		if b, ok := c.pop(l); !ok || b.Off != c.want {
			t.Errorf("processor %d has block %d, want %d", c.processor, b.Off, c.want)
		}
	}
}

// The search for its own ends after a few blocks of a key.
func TestAProcessorLooksAtTheFirstFewBlocks(t *testing.T) {
	for others, want := range map[int]int{near - 1: 100, near: near} {
		l, processor := on()
		l.Push(1, device.Block{Off: 100}, 1, nil)
		*processor = 1
		for i := range others {
			l.Push(1, device.Block{Off: i + 1}, 1, nil)
		}
		*processor = 0
		if b, _ := l.Pop(1); b.Off != want {
			t.Errorf("below %d blocks of another processor: block %d, want %d", others, b.Off, want)
		}
	}
}
