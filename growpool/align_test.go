package growpool

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A key's buffer begins where its pool aligns, also when it has grown, up to 2 MiB.
func TestBuffersAreAlignedAsThePool(t *testing.T) {
	p := slab.MustOpen("device=mmap,align=2097152")
	g := New[string](p, Config{})
	for _, n := range []int{10, 1000, 1 << 20} {
		v := check.Ok(Get[float64](g, "k", n))(t)
		if a := uintptr(unsafe.Pointer(&v.Slice()[0])); a%(2<<20) != 0 {
			t.Errorf("%d elements at %#x", n, a)
		}
	}
	g.Clear()
	_ = p.Close() // says that old views have their memory still
}
