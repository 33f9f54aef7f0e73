package growpool

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// forget lets the collector find what the program has let go of, and cleanups run.
func forget() {
	for range 3 {
		runtime.GC()
	}
}

// Leases and Views do all that they could where the program has let go of both pools: the keyed one and
// that of the memory.
func TestLeasesAndViewsOutliveTheirPools(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=sim:1MiB"} {
		p := New[string](slab.MustOpen(line), Config{Private: true})
		v, l, private := mustGet[int32](t, p, "v", 20, 30), acquire[int32](t, p, "l", 20, 30), acquire[int32](t, p, "l", 20, 30)
		p = nil
		forget()
		for _, x := range []interface {
			Slice() []int32
			Row(i ...int) []int32
			Set(x int32, i ...int)
			At(i ...int) int32
			Valid() bool
			Shape() []int
		}{v, l, private} {
			if !x.Valid() || len(x.Shape()) != 2 {
				t.Errorf("%s: valid %v, shape %v", line, x.Valid(), x.Shape())
			}
			if line == "device=sim:1MiB" {
				continue // which the CPU does not reach
			}
			x.Set(7, 19, 29)
			if m := x.Slice(); x.At(19, 29) != 7 || x.Row(19)[29] != 7 || m[len(m)-1] != 7 {
				t.Errorf("%s: the contents are lost", line)
			}
		}
		s := newGated()
		close(s.gate.open)
		for _, err := range []error{v.UsedOn(s), l.UsedOn(s), private.UsedOn(s), l.Release(), private.Release()} {
			if err != nil {
				t.Error(err)
			}
		}
		if v.Block().Len != 2400 || l.Valid() {
			t.Errorf("%s: a block of %d bytes, a lease that is valid: %v", line, v.Block().Len, l.Valid())
		}
	}
}

// A keyed pool keeps the pool of its memory.
func TestAPoolOutlivesThatOfItsMemory(t *testing.T) {
	p := New[string](slab.MustOpen("device=mmap"), Config{})
	defer p.Close()
	for n := 1; n < 100_000; n *= 2 {
		forget()
		mustGet[byte](t, p, "v", n)
		release(t, acquire[byte](t, p, "l", n))
	}
}
