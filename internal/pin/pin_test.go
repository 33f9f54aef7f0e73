package pin

import "testing"

func TestPinDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { Unpin(Pin()) }); n > 0.1 {
		t.Fatalf("%v allocations", n)
	}
}
