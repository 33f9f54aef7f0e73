package percpu

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// filled gets n blocks of a class for a magazine.
func filled(t *testing.T, s *store, n int, size int) *magazine {
	m := &magazine{n: int32(n), class: int32(s.Class(size))}
	for i := range n {
		m.entries[i] = s.get(t, size)
	}
	return m
}

// Two magazines are within classBytes, if each has more than a block, and no smaller than necessary.
func TestTwoMagazinesAreWithinTheirBytes(t *testing.T) {
	for bytes := int64(16); bytes < 4*classBytes; bytes += bytes/7 + 1 {
		n := most(bytes)
		if n < 1 || n > magazineSlots || n > 1 && 2*int64(n)*bytes > classBytes || n < magazineSlots && 2*int64(n+1)*bytes <= classBytes {
			t.Errorf("%d blocks of %d bytes", n, bytes)
		}
	}
}

// cut takes the first blocks, which were there longest; the others move down, and nothing stays behind them.
func TestCutTakesTheFirstBlocks(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20})
	all := filled(t, s, magazineSlots, 100).entries
	for _, c := range [][2]int32{{1, 1}, {5, 2}, {32, 1}, {32, 16}, {32, 32}} {
		m := &magazine{}
		copy(m.entries[:], all[:c[0]])
		out := m.cut(c[1])
		m.check(s.Class(100), c[0]-c[1])
		out.check(s.Class(100), c[1])
		if out.n != c[1] || !slices.Equal(slices.Concat(out.entries[:c[1]], m.entries[:c[0]-c[1]]), all[:c[0]]) {
			t.Errorf("%d of %d: other blocks", c[1], c[0])
		}
	}
}

// peek tells apart the blocks of a magazine, and a block from itself once it was got and released; where there is no
// block it is 0.
func TestPeekTellsBlocksApart(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20})
	m := filled(t, s, magazineSlots, 100)
	seen := map[uint64]int32{0: 0}
	for n := int32(1); n <= magazineSlots; n++ {
		v := m.peek(n)
		if of, again := seen[v]; again {
			t.Errorf("block %d seems to be block %d", n, of)
		}
		seen[v] = n
		slot := m.entries[n-1].Slot
		if slot.End(slot.Generation()); m.peek(n) == v {
			t.Errorf("block %d seems not to have been used", n)
		}
	}
	m.entries[3] = handle.Entry{}
	if m.peek(4) != 0 || m.peek(0) != 0 || (*magazine)(nil).peek(4) != 0 {
		t.Error("there is a block where none is")
	}
}

// bytes adds up blocks of all lengths, and those that are there.
func TestBytesOfAMagazine(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, ExactAbove: 1})
	m := filled(t, s, 3, 1000)
	m.entries[1] = s.get(t, 900)
	for n, want := range []int64{0, 1000, 1900, 2900, 2900} {
		if got := m.bytes(int32(n)); got != want {
			t.Errorf("%d bytes in %d blocks, want %d", got, n, want)
		}
	}
	if (*magazine)(nil).bytes(3) != 0 {
		t.Error("no magazine has bytes")
	}
}
