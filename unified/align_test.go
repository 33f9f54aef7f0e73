package unified

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Both sides of a buffer begin where their pools align, up to 2 MiB.
func TestSidesAreAlignedAsTheirPools(t *testing.T) {
	host, dev := slab.MustOpen("device=mmap,align=2097152"), slab.MustOpen("device=sim:64MiB,align=65536")
	p := NewPoolOn(host, dev, PoolConfig{})
	for _, n := range []int{10, 100_000} {
		b := check.Ok(Acquire[float32](p, n))(t)
		h := check.Ok(b.HostMut())(t)
		if a := uintptr(unsafe.Pointer(&h[0])); a%(2<<20) != 0 {
			t.Errorf("%d elements at %#x", n, a)
		}
		if d := check.Ok(b.Device())(t); d.Off%(64<<10) != 0 {
			t.Errorf("%d elements at offset %d", n, d.Off)
		}
		check.Must(t, b.Release())
	}
	p.Clear()
	check.Must(t, host.Close(), dev.Close())
}
