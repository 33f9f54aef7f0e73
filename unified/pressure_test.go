package unified

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Released buffers go back, both sides, as memory of the host runs short.
func TestReleasedBuffersGoBackUnderPressure(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	gave := make(chan int64, 64)
	host, err := slab.OpenConfig(slab.Config{Device: "mmap", Pressure: true, Hooks: &slab.Hooks{Pressure: func(_ string, n int64, _ string) { gave <- n }}})
	check.Must(t, err)
	dev := slab.MustOpen("device=sim:64MiB")
	p := NewPoolOn(host, dev, PoolConfig{})
	b := check.Ok(Acquire[byte](p, 8<<20))(t)
	check.Ok(b.HostMut())(t)
	check.Must(t, b.Release())
	if p.Len() != 1 {
		t.Error(p.Len())
	}
	debug.SetMemoryLimit(1) // which live objects fill
	for sum := int64(0); sum < 8<<20; {
		sum += <-gave
	}
	if p.Len() != 0 {
		t.Errorf("%d buffers are kept", p.Len())
	}
	check.Must(t, host.Close(), dev.Close())
}
