package pin

import (
	"runtime"
	"testing"
)

func TestIDIsSmall(t *testing.T) {
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	for range 1000 {
		if id := ID(); id < 0 || id > 1<<16 {
			t.Fatalf("ID = %d", id)
		}
	}
}

func TestIDDoesNotAllocate(t *testing.T) {
	ID()
	if n := testing.AllocsPerRun(100, func() { ID() }); n > 0.5 {
		t.Fatalf("%v allocations", n)
	}
}
