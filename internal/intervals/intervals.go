// Package intervals has sets of numbers that lie together: which bytes of a range are committed,
// for instance.
package intervals

import (
	"slices"
	"sort"
)

// An Interval is what lies from Lo to below Hi.
type Interval struct{ Lo, Hi int }

// A Set is a set of numbers as sorted intervals that do not touch. Ranges grow at their end and
// are full of holes only after a trim, so there are few intervals and a slice is all it takes.
type Set []Interval

// Touching returns the intervals [i:j) of s that overlap or touch lo to hi.
func (s Set) Touching(lo, hi int) (i, j int) {
	i = sort.Search(len(s), func(k int) bool { return s[k].Hi >= lo })
	j = i
	for j < len(s) && s[j].Lo <= hi {
		j++
	}
	return i, j
}

// Overlap returns how many numbers from lo to below hi are in s.
func (s Set) Overlap(lo, hi int) (n int) {
	i, j := s.Touching(lo, hi)
	for _, x := range s[i:j] {
		n += max(0, min(x.Hi, hi)-max(x.Lo, lo))
	}
	return n
}

// Add puts lo to below hi in.
func (s *Set) Add(lo, hi int) {
	i, j := s.Touching(lo, hi)
	if i < j {
		lo, hi = min(lo, (*s)[i].Lo), max(hi, (*s)[j-1].Hi)
	}
	*s = slices.Replace(*s, i, j, Interval{lo, hi})
}

// Remove takes lo to below hi out. Of the intervals that it cuts, ends remain.
func (s *Set) Remove(lo, hi int) {
	i, j := s.Touching(lo, hi)
	var ends []Interval
	for _, x := range (*s)[i:j] {
		if x.Lo < lo {
			ends = append(ends, Interval{x.Lo, min(x.Hi, lo)})
		}
		if x.Hi > hi {
			ends = append(ends, Interval{max(x.Lo, hi), x.Hi})
		}
	}
	*s = slices.Replace(*s, i, j, ends...)
}
