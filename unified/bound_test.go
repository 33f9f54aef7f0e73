package unified

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Host memory that a pool keeps idle goes back when its bound falls, and beyond a soft bound buffers have plain memory.
func TestBoundsOfTheHost(t *testing.T) {
	host, dev := slab.MustOpen("device=mmap,max_bytes=16MiB,overflow=make"), slab.MustOpen("device=sim")
	p := NewPoolOn(host, dev, PoolConfig{})
	b := check.Ok(Acquire[byte](p, 4<<20))(t)
	check.Ok(b.HostMut())(t)[0] = 1
	b.Release()
	check.Must(t, host.SetMaxBytes(1<<20))
	if s := host.Stats(); s.ManagedBytes > 1<<20 {
		t.Errorf("the bound fell, and %v", s)
	}
	b = check.Ok(Acquire[byte](p, 4<<20))(t)
	check.Ok(b.HostMut())(t)[4<<20-1] = 1
	if s := host.Stats(); s.OverflowBlocks != 1 || s.ManagedBytes > 1<<20 {
		t.Errorf("beyond the bound: %v", s)
	}
	b.Free()
	if s := host.Stats(); s.OverflowBlocks+s.ActiveBlocks != 0 {
		t.Errorf("at the end: %v", s)
	}
	check.Must(t, host.Close())
	check.Must(t, dev.Close())
}
