// Package bitset is a set of small numbers that finds the next one quickly.
package bitset

import "math/bits"

// A Set is a set of numbers from 0. Next and Last take a step or two: a word of
// the summary says which of its 64 words have a bit. The zero Set is empty, and has
// room for none: see Grow.
type Set struct {
	words, summary []uint64
}

// Set adds i, for which Grow has made room.
func (s *Set) Set(i int) {
	w := i >> 6
	s.words[w] |= 1 << (i & 63)
	s.summary[w>>6] |= 1 << (w & 63)
}

// Grow makes room for numbers up to i.
func (s *Set) Grow(i int) {
	if w := i >> 6; w >= len(s.words) {
		s.words = append(s.words, make([]uint64, w+1-len(s.words))...)
		s.summary = append(s.summary, make([]uint64, w>>6+1-len(s.summary))...)
	}
}

// Clear removes i, which is in the set.
func (s *Set) Clear(i int) {
	w := i >> 6
	left := s.words[w] &^ (1 << (i & 63))
	if s.words[w] = left; left == 0 {
		s.summary[w>>6] &^= 1 << (w & 63)
	}
}

// Next returns the first set bit from i on, or -1.
func (s *Set) Next(i int) int {
	w := i >> 6
	if w >= len(s.words) {
		return -1
	}
	if m := s.words[w] >> (i & 63); m != 0 {
		return i + bits.TrailingZeros64(m)
	}
	w++
	for v := w >> 6; v < len(s.summary); v++ {
		m := s.summary[v]
		if v == w>>6 {
			m &= ^uint64(0) << (w & 63)
		}
		if m != 0 {
			w = v<<6 + bits.TrailingZeros64(m)
			return w<<6 + bits.TrailingZeros64(s.words[w])
		}
	}
	return -1
}

// Last returns the last set bit, or -1.
func (s *Set) Last() int {
	for v := len(s.summary) - 1; v >= 0; v-- {
		if m := s.summary[v]; m != 0 {
			w := v<<6 + bits.Len64(m) - 1
			return w<<6 + bits.Len64(s.words[w]) - 1
		}
	}
	return -1
}
