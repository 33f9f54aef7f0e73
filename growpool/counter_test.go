package growpool

import (
	"runtime"
	"testing"
)

// A counter takes one cache line, or more where there are more processors than a line has numbers for, and leaves their
// number as it is. It counts in the numbers of processors alone, as that is cheap.
func TestACounterTakesALine(t *testing.T) {
	if !plain {
		t.Skip("this build counts in one number")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]int{1: lineBytes, 8: lineBytes, 12: 12 * 8} {
		runtime.GOMAXPROCS(processors)
		var c counter
		c.init()
		c.add()
		if n := 8 * len(c.per); n != want || c.rest.Load() != 0 || c.load() != 1 || runtime.GOMAXPROCS(0) != processors {
			t.Errorf("%d processors: %d bytes, want %d; %d of %d counted elsewhere", processors, n, want, c.rest.Load(), c.load())
		}
	}
}

// A processor that came after the counter was made is counted, too.
func TestLaterProcessorsCount(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var c counter // has numbers for none
	for range 3 {
		c.add()
	}
	if n := c.load(); n != 3 {
		t.Errorf("%d of 3", n)
	}
}
