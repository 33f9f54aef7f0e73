package adapt_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/adapt"
)

// T13 of docs/reports.md. A library drops the slice of the allocator for one of its own, and frees that. Each such Free is
// counted and touches nothing. On the heap the dropped memory comes back with collections. Off the heap it stays out, and
// Leaks has the line of its Allocate.
func TestTheAllocatorsSliceIsDropped(t *testing.T) {
	const times = 100
	for _, line := range []string{"device=heap", "device=mmap,on_forget=report"} {
		p := open(t, line)
		a := adapt.Arrow(p)
		for range times {
			a.Allocate(size) // and then the library takes its own
			x := make([]byte, size)
			x[0] = 1
			a.Free(x)
			if x[0] != 1 {
				t.Fatalf("%s: Free has written to a slice of others", line)
			}
		}
		if s := p.Stats(); s.ForeignPuts != times {
			t.Errorf("%s: %d foreign Puts of %d", line, s.ForeignPuts, times)
		}
		if line == "device=heap" {
			for i := 0; p.Stats().ActiveBlocks > 1; i++ { // the stack may show one
				if i == 1000 {
					t.Fatalf("%s: %+v", line, p.Stats())
				}
				runtime.GC()
				runtime.Gosched()
			}
			continue
		}
		runtime.GC()
		list := p.Leaks()
		if s := p.Stats(); s.ActiveBlocks != times || len(list) != times || !strings.Contains(list[0].Site, "dropped_test.go:") {
			t.Errorf("%s: %d of %d are out, and %d places are known: %.1v", line, s.ActiveBlocks, times, len(list), list)
		}
	}
}
