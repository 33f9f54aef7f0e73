package unified

import "fmt"

// MaxRanges is the number of ranges of different states that a buffer keeps apart.
// If there are more, the shortest Synchronized range between two ranges that are
// dirty on the same side counts as dirty, too, and is copied once without need.
// Ranges that are dirty on different sides always stay apart. So does a range that
// a copy on a stream makes Synchronized, as long as the copy may fail.
const MaxRanges = 64

// A residency has the state of each element, as ranges: sorted and complete, each
// begins at the end of the range before. Neighbours differ.
type residency struct {
	ranges, spare []stretch // spare is memory for the next ranges
}

// A stretch of elements in one state. It begins at the end of the stretch before.
type stretch struct {
	end   int
	state State
}

// A span is elements from lo to below hi, in one state.
type span struct {
	lo, hi int
	state  State
}

func newResidency(n int) residency {
	if n == 0 {
		return residency{}
	}
	return residency{ranges: []stretch{{n, Uninitialized}}}
}

// spans yields the spans between lo and hi, cut there.
func (r *residency) spans(lo, hi int) func(yield func(span) bool) {
	return func(yield func(span) bool) {
		from := 0
		for _, x := range r.ranges {
			s := span{max(from, lo), min(x.end, hi), x.state}
			if s.lo < s.hi && !yield(s) {
				return
			}
			from = x.end
		}
	}
}

// state sums up the elements between lo and hi.
func (r *residency) state(lo, hi int) State {
	sum := Uninitialized
	for s := range r.spans(lo, hi) {
		if weight[s.state] > weight[sum] {
			sum = s.state
		}
	}
	return sum
}

// change gives each element between lo and hi the state that next says.
func (r *residency) change(lo, hi int, next func(State) State) {
	if r.settled(lo, hi, next) {
		return
	}
	out, from := r.spare[:0], 0
	for _, x := range r.ranges {
		out = grow(out, from, min(x.end, lo), x.state)
		out = grow(out, max(from, lo), min(x.end, hi), next(x.state))
		out = grow(out, max(from, hi), x.end, x.state)
		from = x.end
	}
	r.ranges, r.spare = out, r.ranges
}

// swap gives elements in state from the state to.
func (r *residency) swap(lo, hi int, from, to State) {
	r.change(lo, hi, func(s State) State {
		if s == from {
			return to
		}
		return s
	})
}

// settled reports whether next would change nothing.
func (r *residency) settled(lo, hi int, next func(State) State) bool {
	for s := range r.spans(lo, hi) {
		if next(s.state) != s.state {
			return false
		}
	}
	return true
}

// grow adds elements at the end of ranges, if there are any.
func grow(out []stretch, lo, hi int, s State) []stretch {
	if lo >= hi {
		return out
	}
	if k := len(out) - 1; k >= 0 && out[k].state == s {
		out[k].end = hi
		return out
	}
	return append(out, stretch{hi, s})
}

// limit merges ranges until there are at most MaxRanges, as far as it may. Gaps for which kept
// is true stay.
func (r *residency) limit(kept func(lo, hi int) bool) {
	for len(r.ranges) > MaxRanges {
		i := r.shortestGap(kept)
		if i < 0 {
			return
		}
		// Its neighbours are alike, so that the three become one.
		r.ranges = append(r.ranges[:i-1], r.ranges[i+1:]...)
	}
}

// shortestGap returns the place of a Synchronized range between two that are
// dirty on the same side, and not kept, or -1.
func (r *residency) shortestGap(kept func(lo, hi int) bool) int {
	best, shortest := -1, 0
	for i := 1; i < len(r.ranges)-1; i++ {
		s := r.ranges[i-1].state
		if r.ranges[i].state != Synchronized || s != r.ranges[i+1].state || s < HostDirty {
			continue
		}
		lo, hi := r.ranges[i-1].end, r.ranges[i].end
		if n := hi - lo; (best < 0 || n < shortest) && !kept(lo, hi) {
			best, shortest = i, n
		}
	}
	return best
}

// A step is an action on a range, in one call.
type step struct {
	lo, hi int
	do     action
}

// plan returns the steps of an access, or the error that refuses it. Ranges to copy
// are one step where the gap between them is Synchronized, so that it may be copied
// over, and at most slack elements long.
func (r *residency) plan(lo, hi int, a access, slack int) (steps []step, err error) {
	last := -1 // of steps that may be extended
	for s := range r.spans(lo, hi) {
		c := table[s.state][a]
		switch {
		case c.do == lose || c.do == void:
			return nil, refused(c.do, a, s)
		case c.do == pull && last >= 0 && s.lo-steps[last].hi <= slack:
			steps[last].hi = s.hi
		case c.do != none:
			steps = append(steps, step{s.lo, s.hi, c.do})
			last = len(steps) - 1
			if c.do != pull {
				last = -1
			}
		case s.state != Synchronized:
			last = -1
		}
	}
	return steps, nil
}

// refused is the error of a mark.
func refused(why action, a access, s span) error {
	err := ErrUninitialized
	if why == lose {
		err = ErrConflict
	}
	return fmt.Errorf("unified: %v side marked as written, elements %d to %d are %v: %w", a.side(), s.lo, s.hi, s.state,
		err)
}

// grant makes an access done.
func (r *residency) grant(lo, hi int, a access) {
	r.change(lo, hi, func(s State) State { return table[s][a].next })
}
