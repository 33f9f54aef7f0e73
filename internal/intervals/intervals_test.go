package intervals

import "testing"

// Every step is compared with a set that has one entry a number.
func TestIntervalsAreASet(t *testing.T) {
	const size = 40
	var s Set
	var model [size]bool
	state := uint32(1)
	for range 20000 {
		state = state*1664525 + 1013904223
		lo := int(state>>8) % size
		hi := lo + 1 + int(state>>20)%(size-lo)
		in := state>>30 == 0 || state>>30 == 2
		n := 0
		for i := lo; i < hi; i++ {
			if model[i] {
				n++
			}
			model[i] = in
		}
		if got := s.Overlap(lo, hi); got != n {
			t.Fatalf("%v overlaps [%d,%d) in %d numbers, not %d", s, lo, hi, got, n)
		}
		if in {
			s.Add(lo, hi)
		} else {
			s.Remove(lo, hi)
		}
		checkIntervals(t, s, model[:])
	}
}

func checkIntervals(t *testing.T, s Set, model []bool) {
	t.Helper()
	for i := range model {
		if got := s.Overlap(i, i+1) == 1; got != model[i] {
			t.Fatalf("%v holds %d: %v, want %v", s, i, got, model[i])
		}
	}
	for i := range s {
		if s[i].Lo >= s[i].Hi || i > 0 && s[i-1].Hi >= s[i].Lo {
			t.Fatalf("%v: intervals touch, or have nothing", s)
		}
	}
}
