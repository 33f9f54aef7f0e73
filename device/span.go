package device

import (
	"fmt"
	"slices"
	"sort"

	"github.com/bufslab/bufslab/device/internal/base"
)

// roundUp returns the least multiple of a power of two that is at least n.
func roundUp(n, to int) int { return (n + to - 1) &^ (to - 1) }

// reservable returns how many of size bytes Reserve asks for: whole pages, at
// most addressable. fixed says that the device was told not to reserve.
func reservable(d *base.Device, fixed bool, size, page int) (int, error) {
	if err := d.CheckAlloc(size); err != nil {
		return 0, err
	}
	if fixed {
		return 0, fmt.Errorf("device: Reserve on %s: %w", d.Name(), ErrUnavailable)
	}
	if size = min(size, addressable) &^ (page - 1); size == 0 {
		return 0, fmt.Errorf("device: Reserve of less than a page of %d bytes: %w", page, ErrSize)
	}
	return size, nil
}

// A span is what lies from lo to below hi.
type span struct{ lo, hi int }

// spans is a set of numbers as sorted spans that do not touch: which bytes of
// a range are committed. Ranges grow at their end and are full of holes only
// after a trim, so there are few spans and a slice is all it takes.
type spans []span

// touching returns the spans [i:j) of s that overlap or touch lo to hi.
func (s spans) touching(lo, hi int) (i, j int) {
	i = sort.Search(len(s), func(k int) bool { return s[k].hi >= lo })
	j = i
	for j < len(s) && s[j].lo <= hi {
		j++
	}
	return i, j
}

// overlap returns how many numbers from lo to below hi are in s.
func (s spans) overlap(lo, hi int) (n int) {
	i, j := s.touching(lo, hi)
	for _, x := range s[i:j] {
		n += max(0, min(x.hi, hi)-max(x.lo, lo))
	}
	return n
}

// add puts lo to below hi in.
func (s *spans) add(lo, hi int) {
	i, j := s.touching(lo, hi)
	if i < j {
		lo, hi = min(lo, (*s)[i].lo), max(hi, (*s)[j-1].hi)
	}
	*s = slices.Replace(*s, i, j, span{lo, hi})
}

// remove takes lo to below hi out. Of the spans that it cuts, ends remain.
func (s *spans) remove(lo, hi int) {
	i, j := s.touching(lo, hi)
	var ends []span
	for _, x := range (*s)[i:j] {
		if x.lo < lo {
			ends = append(ends, span{x.lo, min(x.hi, lo)})
		}
		if x.hi > hi {
			ends = append(ends, span{max(x.lo, hi), x.hi})
		}
	}
	*s = slices.Replace(*s, i, j, ends...)
}
