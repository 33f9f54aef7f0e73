package arena

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// An Arena keeps its pool: it does all that it could where the program has let go of that.
func TestAnArenaOutlivesThePool(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		a := New(slab.MustOpen("device=" + dev))
		for round := range 3 {
			runtime.GC()
			runtime.GC() // a cleanup runs after the first
			for n := 1; n < 100_000; n *= 3 {
				m := check.Ok(a.Get(n))(t)
				m[n-1] = byte(round)
				check.Ok(Make[int64](a, n))(t)
			}
			if a.Reset(); round == 1 {
				a.Release()
			}
		}
		a.Release()
	}
}
