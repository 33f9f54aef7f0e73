package watch

import (
	"math"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
)

// What leaks at a place in a long time may be more than an int has where that has 32 bits.
func TestALeakOfMoreThanAnInt(t *testing.T) {
	const leaked = 5 << 30
	all := profile.Fit(nil, handle.Tally{}, handle.Tally{Blocks: 10, Bytes: leaked})
	for _, l := range appendSampled(nil, Leak{Forgotten: true}, all[0].Leaked) {
		if l.Sampled != 10 || int64(l.Bytes) != min(leaked, math.MaxInt) {
			t.Errorf("%+v", l)
		}
	}
}
