package iobuf

import (
	"math/bits"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/sidetable"
	"github.com/bufslab/bufslab/slab"
)

// A typicalSize follows the sizes that the Buffers of a pool end with, so that the next Buffer can
// begin with the typical one: a size class that some eight of nine Buffers do not exceed. It begins
// with the class of the first Buffer. From then on a larger Buffer counts as much as eight others.
// When larger Buffers are ahead by four, the class becomes the largest of theirs, but at most four
// times as large: each step takes blocks of another size from the Go heap. When smaller Buffers are
// ahead by 32, counted in the same way, the class becomes the largest of theirs. So an outlier counts
// for little, and while all Buffers have one size nothing is written.
type typicalSize struct {
	state  atomic.Uint32
	onHeap bool // whether the pool is on the Go heap
}

// A typical is the state: the class, and the count for another class.
type typical struct {
	class uint8 // the class plus one; 0 if no Buffer has ended
	next  uint8 // the largest larger class that was counted, or the largest smaller one
	score int8  // above 0 for a larger class, below 0 for a smaller one
	most  uint8 // the largest class so far
}

const (
	leastTypical = 512
	mostTypical  = 16 << 20
	largerCounts = 8
	sureAt       = 4 * largerCounts
)

// typicalSizes has the typicalSize of each pool that has had Buffers.
var typicalSizes = sidetable.Table[slab.Pool, typicalSize]{Make: func(p *slab.Pool) *typicalSize {
	d := p.Device()
	return &typicalSize{onHeap: d != nil && d.Name() == "heap"}
}}

// classOf returns the class of the smallest size that has room for n bytes, at least one: sizes are
// multiples of 512 up to 8 KiB, and from there on eight a doubling.
func classOf(n int) int {
	steps := uint(n-1) / leastTypical
	doublings := max(0, bits.Len(steps)-4)
	return 8*doublings + int(steps>>doublings)
}

// classSize returns the size of a class.
func classSize(class int) int {
	doublings := max(0, class/8-1)
	return (class - 8*doublings + 1) << doublings * leastTypical
}

// load returns the state, store sets it.
func (t *typicalSize) load() typical {
	s := t.state.Load()
	return typical{uint8(s), uint8(s >> 8), int8(s >> 16), uint8(s >> 24)}
}

func (t *typicalSize) store(s typical) {
	t.state.Store(uint32(s.class) | uint32(s.next)<<8 | uint32(uint8(s.score))<<16 | uint32(s.most)<<24)
}

// size returns the typical size, or the least one.
func (t *typicalSize) size() int { return t.load().size() }

func (s typical) size() int { return classSize(max(int(s.class), 1) - 1) }

// farthest returns the class plus one of a size four times as large.
func (s typical) farthest() uint8 { return uint8(classOf(4*s.size()) + 1) }

// note notes that a Buffer has had n bytes, at least one, and reports whether the typical size has
// become larger than it ever was. Of two calls at the same time one may be lost.
func (t *typicalSize) note(n int) (grew bool) {
	was := t.load()
	now := was.after(uint8(classOf(min(n, mostTypical)) + 1))
	if now != was {
		t.store(now)
	}
	return now.most > was.most
}

// after returns the state after a Buffer of a class.
func (s typical) after(class uint8) typical {
	switch {
	case s.class == 0:
		return typical{class: class, most: class}
	case s.score < 0 && class == s.class:
		s.score = min(s.score+largerCounts, 0)
	case s.score > 0 && class <= s.class:
		s.score--
	case class > s.class:
		if s.score <= 0 && s.score+largerCounts > 0 {
			s.next = s.class
		}
		if s.score += largerCounts; s.score > 0 {
			s.next = max(s.next, min(class, s.farthest()))
		}
	case class < s.class:
		if s.score == 0 {
			s.next = class
		}
		s.next, s.score = max(s.next, class), s.score-1
	}
	if s.score >= sureAt || s.score <= -sureAt {
		return typical{class: s.next, most: max(s.most, s.next)}
	}
	return s
}
