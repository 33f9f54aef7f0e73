package slab

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A modelShelf is a shelf as a slice, the oldest first.
type modelShelf struct {
	items []shelved
	epoch uint32
}

func (m *modelShelf) bytes() (n int64) {
	for _, it := range m.items {
		n += it.size
	}
	return n
}

// pick removes the youngest of a key.
func (m *modelShelf) pick(key int) (device.Block, bool) {
	for i := len(m.items) - 1; i >= 0; i-- {
		if m.items[i].key == key {
			b := m.items[i].block
			m.items = slices.Delete(m.items, i, i+1)
			return b, true
		}
	}
	return device.Block{}, false
}

func (m *modelShelf) oldest(n int) (out []device.Block) {
	for _, it := range m.items[:n] {
		out = append(out, it.block)
	}
	m.items = slices.Delete(m.items, 0, n)
	return out
}

// shrinkTo lets the oldest go until the bounds are kept.
func (m *modelShelf) shrinkTo(blocks int, bytes int64) (out []device.Block) {
	for len(m.items) > blocks || m.bytes() > bytes {
		out = append(out, m.oldest(1)...)
	}
	return out
}

func (m *modelShelf) keys() (k []int) {
	for _, it := range m.items {
		k = append(k, it.key)
	}
	slices.Sort(k)
	return k
}

const (
	shelfBytes  = 20_000
	shelfBlocks = 30
	shelfBlock  = 1500
)

func TestShelfLikeAModel(t *testing.T) {
	for _, dense := range []bool{true, false} {
		for seed := range uint64(10) {
			w := shelfWalk{t: t, r: rand.New(rand.NewPCG(seed, 4)), dense: dense,
				s: newShelf(Config{MaxHeld: shelfBytes, MaxHeldBlocks: shelfBlocks, MaxBlockBytes: shelfBlock}, dense)}
			for range 3000 {
				w.step()
				if w.s.blocks != len(w.m.items) || w.s.bytes != w.m.bytes() {
					t.Fatalf("%d bytes in %d blocks, want %d in %d", w.s.bytes, w.s.blocks, w.m.bytes(), len(w.m.items))
				}
			}
		}
	}
}

type shelfWalk struct {
	t     *testing.T
	r     *rand.Rand
	s     shelf
	m     modelShelf
	dense bool
}

func (w *shelfWalk) step() {
	key := w.r.IntN(20)
	switch k := w.r.IntN(20); {
	case k < 11:
		w.put(key)
	case k < 15:
		got, ok := w.s.take(key)
		want, has := w.m.pick(key)
		w.same([]device.Block{got}, []device.Block{want})
		if ok != has {
			w.t.Fatalf("take(%d): %v, want %v", key, ok, has)
		}
	case k < 17:
		w.takeBetween(key, key+w.r.IntN(4))
	case k < 18:
		w.takeAny()
	case k < 19:
		w.trim(w.r.IntN(4))
	default:
		n := w.r.IntN(shelfBlocks)
		w.same(w.s.shrink(n, shelfBytes/2, nil), w.m.shrinkTo(n, shelfBytes/2))
	}
}

func (w *shelfWalk) put(key int) {
	it := shelved{block: block(1 + w.r.IntN(2000)), key: key, stamp: w.m.epoch}
	it.size = int64(it.block.Len)
	got := w.s.put(key, it.block, it.size, nil)
	if it.size > shelfBlock {
		w.same(got, []device.Block{it.block})
		return
	}
	w.m.items = append(w.m.items, it)
	w.same(got, w.m.shrinkTo(shelfBlocks, shelfBytes))
}

func (w *shelfWalk) takeBetween(lo, hi int) {
	if !w.dense {
		return
	}
	want := device.Block{}
	i := slices.IndexFunc(w.m.keys(), func(k int) bool { return lo <= k && k <= hi })
	key := 0
	if i >= 0 {
		key = w.m.keys()[i]
		want, _ = w.m.pick(key)
	}
	got, k, ok := w.s.takeBetween(lo, hi)
	if got != want || ok != (i >= 0) || ok && k != key {
		w.t.Fatalf("takeBetween(%d, %d) = %v, %d, %v, want %v", lo, hi, got, k, ok, want)
	}
}

// takeAny parts with the largest key, or with the oldest.
func (w *shelfWalk) takeAny() {
	got, ok := w.s.takeAny()
	if len(w.m.items) == 0 {
		if ok {
			w.t.Fatalf("%v from an empty shelf", got)
		}
		return
	}
	var want device.Block
	if w.dense {
		keys := w.m.keys()
		want, _ = w.m.pick(keys[len(keys)-1])
	} else {
		want = w.m.oldest(1)[0]
	}
	w.same([]device.Block{got}, []device.Block{want})
}

func (w *shelfWalk) trim(idle int) {
	n := 0
	for n < len(w.m.items) && w.m.epoch-w.m.items[n].stamp >= uint32(idle) {
		n++
	}
	w.same(w.s.trim(idle, nil), w.m.oldest(n))
	w.m.epoch++
}

func (w *shelfWalk) same(got, want []device.Block) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Fatalf("got %v, want %v", got, want)
	}
}

func TestAStoppedShelfHoldsNothing(t *testing.T) {
	s := newShelf(Config{}, true)
	a, b := block(10), block(20)
	s.put(1, a, 10, nil)
	if out := s.stop(nil); !slices.Equal(out, []device.Block{a}) {
		t.Errorf("stop left %v", out)
	}
	if out := s.put(1, b, 20, nil); !slices.Equal(out, []device.Block{b}) || s.blocks != 0 {
		t.Errorf("a stopped shelf took %v", out)
	}
}

func TestShelfOfNothingHoldsNothing(t *testing.T) {
	for _, c := range []Config{{MaxHeld: -1}, {MaxHeldBlocks: -1}} {
		s := newShelf(c, true)
		if out := s.put(1, block(10), 10, nil); len(out) != 1 || s.blocks != 0 {
			t.Errorf("%+v: %d blocks held", c, s.blocks)
		}
	}
}

func TestShelfAllocatesNothingInSteadyState(t *testing.T) {
	for _, dense := range []bool{true, false} {
		s := newShelf(Config{}, dense)
		var b [64]device.Block
		for i := range b {
			b[i] = block(1 + i)
		}
		if n := testing.AllocsPerRun(500, func() {
			for i := range b {
				s.put(i, b[i], 1, nil)
			}
			for i := range b {
				s.take(i)
			}
		}); n != 0 {
			t.Errorf("dense %v: %v allocations", dense, n)
		}
	}
}
