package wrap_test

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/wrap"
)

// A panic in any call of the upstream passes through, and the counts are right after it. The strategy
// below is direct, which does not know what is out: so a block whose Free panics is out as before.
func TestAPanicOfTheUpstreamPassesThrough(t *testing.T) {
	for name, over := range wrappers {
		t.Run(name, func(t *testing.T) {
			upstreamtest.Break(t, 25, func(up *upstreamtest.Breaking) upstreamtest.Breakable {
				return breakable(over(on("direct", up, slab.Config{})))
			})
		})
	}
}

func breakable(a wrapper) upstreamtest.Breakable {
	b := upstreamtest.Breakable{Back: a.FreeHeld, Stop: a.StopHolding, Passes: true}
	b.Alloc = func(size int) ([]byte, func(), error) {
		x, err := a.Alloc(size)
		if err != nil {
			return nil, nil, err
		}
		return device.Bytes(x), func() { a.Free(x) }, nil
	}
	b.Usage = func() (active, managed, least int64) {
		u := a.Usage()
		return u.ActiveBytes, u.ManagedBytes(), min(u.RoundingBytes, u.HeldBytes, u.UnusableBytes)
	}
	if s, ok := a.(*wrap.Statistics); ok {
		b.More = func() int64 { return s.Counts().Bytes }
	}
	return b
}
