package percpu

import (
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A class for which the share is too small has a block when it was refused often enough,
// more where more is released, and never more than the most. It has that again once it was
// emptied and is used.
func TestBlocksAreEarned(t *testing.T) {
	const size = 32 << 10
	s := oneCPU(t, Options{Largest: size, Bytes: 3 * size, Depot: 1, Divisor: 1 << 20, Managed: func() int64 { return dearShare * size }})
	k := s.At(0, s.Class(size))
	blocks := func(n int) (most int32) {
		for range n {
			live := []handle.Entry{s.get(t, size), s.get(t, size), s.get(t, size), s.get(t, size)}
			for _, e := range live {
				s.release(e, size)
			}
		}
		return k.limit.Load() + k.nprevious
	}
	if n := blocks(2 * blockPrice / 4); n != 0 {
		t.Errorf("%d blocks for %d refusals", n, k.refused)
	}
	if n := blocks(1); n != 1 {
		t.Errorf("%d blocks after %d refusals, want one", n, k.refused)
	}
	if n := blocks(100); n != 3 {
		t.Errorf("%d blocks within a budget of 3", n)
	}
	earned := k.refused
	if s.Reclaim(false); k.refused != earned || k.limit.Load() != 0 {
		t.Errorf("%d of %d refusals count after a reclaim, which left %d blocks", k.refused, earned, k.limit.Load())
	}
	if n := blocks(1); n != 3 {
		t.Errorf("%d blocks after a round, want 3 as before the reclaim", n)
	}
}

// A block costs more the larger a part it is of what is managed, and the more there are.
func TestPriceOfABlock(t *testing.T) {
	b := budget{managed: 256 << 20}
	for _, c := range []struct {
		nth        int32
		size, want int64
	}{{1, 4 << 10, 16}, {3, 4 << 10, 48}, {1, 1 << 20, 32}, {2, 1 << 20, 64}, {1, 256 << 20, 16 * 257}} {
		if n := b.price(c.nth, c.size); n != c.want {
			t.Errorf("block %d of %d bytes costs %d, want %d", c.nth, c.size, n, c.want)
		}
	}
}

// What a processor may hold for the asking grows with what is managed, from a least and up to
// the most; so does that of the depot, but only before a strategy that merges.
func TestBudgetGrowsWithWhatIsManaged(t *testing.T) {
	var managed int64
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 21, Divisor: 4, Least: LeastBytes, Managed: func() int64 { return managed }})
	shares := 4 * int64(len(s.cpus)+1)
	for _, c := range [][3]int64{{0, LeastBytes, LeastBytes}, {shares * LeastBytes * 2, LeastBytes * 2, LeastBytes * 2}, {1 << 50, 1 << 20, 1 << 21}} {
		managed = c[0]
		if b := s.budget(1 << 20); b.share != c[1] || b.most != 1<<20 {
			t.Errorf("%d bytes managed: %+v, want a share of %d", managed, b, c[1])
		}
		for _, merges := range []bool{false, true} {
			want := int64(1 << 21)
			if s.options.Merges = merges; merges {
				want = c[2]
			}
			if b := s.depotBudget(); b.share != want || b.most != 1<<21 {
				t.Errorf("%d bytes managed, merges %v: the depot has %+v, want a share of %d", managed, merges, b, want)
			}
		}
	}
}
