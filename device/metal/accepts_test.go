package metal

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// A stream takes memory of its device and of the host, and no memory of other devices.
func TestStreamsAcceptWhatTheyReach(t *testing.T) {
	d := opened(t, "metal:0:private")
	s := check.Ok(d.NewStream())(t)
	own, other := check.Ok(d.Alloc(100))(t), check.Ok(sim.New(1<<20).Alloc(100))(t)
	host := device.Host(make([]byte, 10))
	check.Must(t, device.Accepts(s, own), device.Accepts(s, host), device.Accepts(s, device.Block{}))
	check.Wraps(t, device.Accepts(s, other), device.ErrUnavailable)
	check.Must(t, s.Fill(own, 1), s.Close())
	check.Wraps(t, device.Accepts(s, own), device.ErrClosed)
	d.Free(own)
}
