package percpu

import (
	"math"

	"github.com/bufslab/bufslab/slab/internal/profile"
)

// counters count the Gets and Releases that no class cache serves, and their bytes. A call that
// counts holds Options.Lock anyway, for the block that it takes or gives back: so counting takes
// no atomic operation.
type counters struct {
	gets, releases, got, released int64

	// A Get is sampled with which got passes due.
	due   int64
	scale profile.Scale // that due was drawn with
	pace  *profile.Pace
}

// get counts a Get of size bytes. It returns what the Get stands for in a profile, 0 if it is not
// sampled.
func (n *counters) get(size int) (stands float64) {
	n.gets++
	if n.got += int64(size); n.got < n.due {
		return 0
	}
	return n.sample(size)
}

func (n *counters) release(size int) {
	n.releases++
	n.released += int64(size)
}

// sample samples a Get of size bytes, and draws the next due.
func (n *counters) sample(size int) (stands float64) {
	if size == 0 {
		return 0
	}
	stands = n.pace.Stands(int64(size), n.scale)
	n.draw()
	return stands
}

// draw draws where the sum of the bytes passes due next.
func (n *counters) draw() {
	bytes, scale := n.pace.Draw()
	n.due, n.scale = n.got+min(bytes, math.MaxInt64-n.got), scale
}
