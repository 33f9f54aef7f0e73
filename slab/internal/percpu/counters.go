package percpu

import (
	"math"

	"github.com/bufslab/bufslab/slab/internal/profile"
)

// counters count the Gets and Releases that no class cache serves, and their bytes. A call that
// counts holds Options.Lock anyway, for the block that it takes or gives back: so counting takes
// no atomic operation.
type counters struct {
	Served

	// A Get is sampled if it takes got past due.
	due   int64
	scale profile.Scale // that due was drawn with
	pace  *profile.Pace
}

// get counts the bytes of a Get. It returns the number of Gets that this one counts for in a profile, 0
// if it is not sampled.
func (n *counters) get(size int) (stands float64) {
	if n.Got += int64(size); n.Got <= n.due {
		return 0
	}
	return n.sample(size)
}

func (n *counters) release(size int) {
	n.Releases++
	n.Released += int64(size)
}

// sample samples a Get of size bytes, and draws the next due.
func (n *counters) sample(size int) (stands float64) {
	if n.scale == profile.Never { // a cut, and this Get goes beyond it
		n.pace.Ease()
		if n.draw(n.due, n.Got-n.due+mostBytes); n.Got <= n.due {
			return 0
		}
	}
	stands = n.pace.Weight(int64(size), n.scale)
	n.draw(n.Got, mostBytes)
	return stands
}

// mostBytes is how many bytes are got before a look whether samples may come closer again.
const mostBytes = 128 << 20

// draw draws the next due beyond from, a sum of bytes, at most most bytes beyond it.
func (n *counters) draw(from, most int64) {
	bytes, scale := n.pace.Draw(most)
	n.due, n.scale = from+min(bytes, math.MaxInt64-from), scale
}
