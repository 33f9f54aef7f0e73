package percpu

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// burst gets n blocks and releases them, so that each lies where it was.
func burst(t *testing.T, s *store, n, size int) {
	t.Helper()
	var live []handle.Entry
	for range n {
		live = append(live, s.get(t, size))
	}
	for _, e := range slices.Backward(live) {
		s.release(e, size)
	}
}

// Of a class cache that has many blocks, and of which few are used, those are left: so is what
// it may hold.
func TestIdleReclaimTakesWhatLiesBelow(t *testing.T) {
	for _, most := range []int{1, 3, 20} {
		s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
		size := int(s.BlockBytes(s.Class(1_000)))
		burst(t, s, 60, size)
		had, granted := s.Usage(), s.granted()
		for range 8 {
			s.Reclaim(true)
			burst(t, s, most, size)
		}
		u := s.Usage()
		if least := int64(most); had.Blocks != 60 || u.Blocks < least || u.Blocks > 2*least {
			t.Errorf("%d blocks, then %d of which %d are in use", had.Blocks, u.Blocks, most)
		}
		if gone := had.Blocks - u.Blocks; s.freed != int(gone) || granted-s.granted() != had.Bytes-u.Bytes {
			t.Errorf("%d blocks of %d went; %d bytes granted for %d", s.freed, gone, s.granted(), u.Bytes)
		}
		if k := s.At(0, s.Class(size)); int64(k.limit.Load()+k.nprevious)*int64(size) != s.granted() {
			t.Errorf("%d bytes granted for %d blocks", s.granted(), k.limit.Load()+k.nprevious)
		}
		if u.Gets() != u.Releases || u.Got != u.Released {
			t.Errorf("%+v", u)
		}
	}
}

// What was in use since the last reclaim stays, whatever is in the class cache when it comes.
func TestIdleReclaimLeavesWhatIsUsed(t *testing.T) {
	for _, n := range []int{1, 2, 10, 33, 60} {
		s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
		burst(t, s, n, 1_000)
		for range 5 {
			e := s.get(t, 1_000)
			s.Reclaim(true)
			s.release(e, 1_000)
			burst(t, s, n, 1_000)
		}
		if s.freed > 0 {
			t.Errorf("%d of %d blocks in use went", s.freed, n)
		}
	}
}

// Blocks at the bottom of a class cache were not needed if no Get has come as far down: of the previous magazine, or of
// half the blocks where there is none. If there was no call at all no block was needed. An idle reclaim takes these.
func TestWhatLiesBelowWasNotNeeded(t *testing.T) {
	for _, c := range []struct {
		blocks, used int // used is how many are got and released
		want         int32
	}{
		{1, 0, everything}, {10, 0, everything}, {40, 0, everything},
		{1, 1, 0}, {2, 1, 1}, {2, 2, 0}, {3, 1, 2}, {3, 2, 0}, {10, 5, 5}, {10, 6, 0}, {10, 10, 0},
		{40, 1, 32}, {40, 8, 32}, {40, 9, 0}, {40, 40, 0},
	} {
		s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20})
		burst(t, s, c.blocks, 1000)
		p := &s.cpus[0]
		p.look()
		burst(t, s, c.used, 1000)
		if n := p.takes(s.Class(1000), true); n != c.want {
			t.Errorf("%d of %d blocks were used: %d were not needed, want %d", c.used, c.blocks, n, c.want)
		}
		want := min(int(c.want), c.blocks)
		if any := s.Reclaim(true); any != (want > 0) || s.freed != want {
			t.Errorf("%d of %d blocks were used: a reclaim took %d, want %d", c.used, c.blocks, s.freed, want)
		}
	}
}

// A class cache loses blocks at its bottom, those of the previous magazine first, and may hold as many less.
func TestTheBottomIsCut(t *testing.T) {
	for _, c := range []struct{ loaded, previous, n int }{{5, 0, 3}, {5, 0, 5}, {5, 1, 1}, {5, 9, 9}, {0, 4, 4}} {
		s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20})
		class := s.Class(1000)
		k := s.At(0, class)
		k.loaded, k.previous = filled(t, s, c.loaded, 1000), filled(t, s, c.previous, 1000)
		k.setN(int32(c.loaded))
		k.nprevious = int32(c.previous)
		k.limit.Store(^7)
		bottom, want := k.loaded.entries[0], 7-c.n
		if c.previous > 0 {
			bottom, want = k.previous.entries[0], 7
		}
		calls := k.touched()
		m := k.cutBottom(int32(c.n))
		m.check(class, int32(c.n))
		k.loaded.check(class, k.n())
		k.previous.check(class, k.nprevious)
		if m.entries[0] != bottom || int(k.n()+k.nprevious) != c.loaded+c.previous-c.n || ^k.limit.Load() != int32(want) {
			t.Errorf("%+v: %d and %d blocks are left, at most %d", c, k.n(), k.nprevious, ^k.limit.Load())
		}
		if k.touched() != calls {
			t.Errorf("%+v: that counts as calls", c)
		}
	}
}
