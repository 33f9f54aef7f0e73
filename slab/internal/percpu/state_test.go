package percpu

import (
	"testing"

	"github.com/bufslab/bufslab/slab/internal/profile"
)

// A state that is armed for n Gets counts them from 0, is due after n, and keeps its blocks and the scale all along.
func TestAStateIsDueWhenItsGetsHaveBeen(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 255, 256, mostGets, dueGets - 1} {
		for _, blocks := range []int32{0, 1, 31, 32} {
			for _, scale := range []profile.Scale{0, 3, profile.Never} {
				if state(blocks).isArmed() {
					t.Error("a state that was never armed seems to be")
				}
				old := state(blocks).armed(7, 9) + 3*oneGet
				for _, gets := range []int64{0, 1, n - 1, n, n + 1, n + 2, n + 1000} {
					if gets < 0 {
						continue
					}
					c := ClassCache{state: old.armed(n, scale) + state(gets)*oneGet}
					if s := c.state; s.n() != blocks || s.gets() != gets || s.scale() != scale || !s.isArmed() {
						t.Errorf("armed for %d: %d blocks, %d Gets, scale %d, armed %t, want %d, %d, %d",
							n, s.n(), s.gets(), s.scale(), s.isArmed(), blocks, gets, scale)
					}
					if c.isDue() != (gets >= n) || c.state.wasDue() != (gets > n) {
						t.Errorf("%d Gets of %d: due %t, was due %t", gets, n, c.isDue(), c.state.wasDue())
					}
				}
			}
		}
	}
}

// A class cache looks for a sample at last after mostGets Gets.
func TestALookIsNotFar(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1, Pace: profile.NewPace(1 << 60)})
	s.release(s.get(t, 1000), 1000)
	k := s.At(0, s.Class(1000))
	for range 3 {
		gets := 0
		for ; !k.isDue(); gets++ {
			s.pairs(1, 1000)
		}
		if s.pairs(1, 1000); gets != mostGets {
			t.Errorf("due after %d Gets, want %d", gets, mostGets)
		}
	}
}
