package pin

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func TestPinDoesNotAllocate(t *testing.T) {
	if n := check.Allocs(1000, func() { Unpin(Pin()) }); n > 0.1 {
		t.Fatalf("%v allocations", n)
	}
}

// There is a number for each processor that the program may use or raise GOMAXPROCS to, and to ask changes nothing.
func TestNumbers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for procs := 1; procs <= 3; procs++ {
		runtime.GOMAXPROCS(procs)
		if n := Numbers(); n < procs || n < runtime.NumCPU() || runtime.GOMAXPROCS(0) != procs {
			t.Errorf("%d numbers where %d processors are asked for, of %d; now %d are", n, procs, runtime.NumCPU(), runtime.GOMAXPROCS(0))
		}
	}
}
