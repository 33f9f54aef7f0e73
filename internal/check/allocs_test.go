package check

import "testing"

var kept []byte // so that what a test makes is on the heap

// What allocates for a while only is not f. What f allocates is counted.
func TestAllocs(t *testing.T) {
	make100 := func() { kept = make([]byte, 100) }
	if n := Allocs(100, make100); n != 1 {
		t.Errorf("%v allocations for 1", n)
	}
	calls := 0
	atFirst := func() {
		if calls++; calls <= 101 { // AllocsPerRun calls once more
			make100()
		}
	}
	if n := testing.AllocsPerRun(100, atFirst); n < 1 {
		t.Errorf("%v allocations at first", n)
	}
	calls = 0
	if n := Allocs(100, atFirst); n != 0 {
		t.Errorf("%v allocations then", n)
	}
}
