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
