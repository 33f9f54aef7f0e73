package planner

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A search looks for places with a low top.
type search struct {
	*placer
	Options
	floor    int64
	height   int64   // of the best so far
	complete bool    // all blocks have a place there
	best     []int64 // its offsets; nil before the first
	order    []int32 // in which they were found
	gaps     bool    // placer.best, as they were found
	rand     *rand.Rand
}

func newSearch(r recording, o Options) *search {
	return &search{placer: newPlacer(r.blocks), Options: o, floor: r.floor, rand: rand.New(rand.NewPCG(1, 2))}
}

// run tries the rules and then improves the best, as long as there is something to gain.
func (s *search) run() {
	if len(s.blocks) == 0 {
		return
	}
	for _, by := range orders {
		order := s.sorted(by)
		for _, s.placer.best = range []bool{true, false} {
			if s.isDone() || !s.try(order) {
				return
			}
		}
	}
	for s.More != nil && s.complete && !s.isDone() && s.try(s.moved()) {
	}
}

// isDone reports whether there is nothing to gain any more, or no time left.
func (s *search) isDone() bool {
	return s.best != nil && (s.complete && s.height <= s.floor || s.isLate())
}

func (s *search) isLate() bool { return s.More != nil && !s.More() }

// orders compare blocks: those that are hard to place first.
var orders = []func(a, b *block) int{
	func(a, b *block) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(b.life(), a.life())) },
	func(a, b *block) int { return cmp.Compare(float64(b.size)*b.life(), float64(a.size)*a.life()) },
	func(a, b *block) int { return cmp.Or(cmp.Compare(b.life(), a.life()), cmp.Compare(b.size, a.size)) },
	func(a, b *block) int { return cmp.Compare(a.start, b.start) },
}

// life is how many events a block lives for.
func (b *block) life() float64 { return float64(b.end) - float64(b.start) }

func (s *search) sorted(by func(a, b *block) int) []int32 {
	order := make([]int32, len(s.blocks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return by(&s.blocks[i], &s.blocks[j]) })
	return order
}

// try places the blocks in an order, and keeps the result if it is at least as good as the
// best one. It gives up where it is worse, and reports false if there is no time left for it.
// The first result is kept as far as it goes.
func (s *search) try(order []int32) bool {
	s.placer.clear()
	top := int64(0)
	for n, i := range order {
		late := n%256 == 255 && s.isLate()
		if end := s.place(i); late || end < 0 || !s.isGood(max(top, end)) { // below 0 it cannot be counted
			if s.best == nil {
				s.keep(order, top)
				s.leaveOut(order[n:])
			}
			return !late
		} else {
			top = max(top, end)
		}
	}
	s.keep(order, top)
	s.complete = true
	return true
}

// isGood reports whether a height is as good as the best one, or not above the ceiling, and
// can be an offset.
func (s *search) isGood(height int64) bool {
	if s.complete {
		return height <= s.height
	}
	return height <= math.MaxInt && (s.Ceiling == 0 || height <= s.Ceiling)
}

// keep keeps what try has found.
func (s *search) keep(order []int32, top int64) {
	s.best = append(s.best[:0], s.offs...)
	s.height, s.order, s.gaps = top, order, s.placer.best
}

// nowhere is the offset of a block without a place.
const nowhere = -1

// leaveOut says that the blocks in rest, the smallest, have no place: there is no time or no
// room for them. A size is left out as a whole, as hints count its blocks, and with it what
// takes as many bytes: nothing that keeps its place was placed on one that does not.
func (s *search) leaveOut(rest []int32) {
	most := s.blocks[rest[0]].size
	s.height = 0
	for i := range s.blocks {
		if b := &s.blocks[i]; b.size <= most {
			s.best[i] = nowhere
		} else {
			s.height = max(s.height, s.best[i]+b.size)
		}
	}
}

// moved returns the best order with a block that is at the top moved to the front, or to a
// place before, or with one that is in its way.
func (s *search) moved() []int32 {
	s.placer.best = s.gaps
	if s.rand.IntN(8) == 0 {
		s.placer.best = !s.gaps
	}
	order := slices.Clone(s.order)
	at := s.atTop(order)
	if s.rand.IntN(4) == 0 { // another one that overlaps it
		if k := s.rand.IntN(len(order)); s.blocks[order[k]].overlaps(&s.blocks[order[at]]) {
			at = k
		}
	}
	to := s.rand.IntN(at + 1)
	i := order[at]
	copy(order[to+1:at+1], order[to:at])
	order[to] = i
	return order
}

// atTop returns where in the order one of the blocks stands that end at the height.
func (s *search) atTop(order []int32) (at int) {
	seen := 0
	for k, i := range order {
		if s.best[i]+s.blocks[i].size == s.height {
			if seen++; s.rand.IntN(seen) == 0 {
				at = k
			}
		}
	}
	return at
}
