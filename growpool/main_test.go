package growpool

import (
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

// A collected is the tests, and the collection that ends the goroutines of pools that tests drop.
type collected struct{ tests *testing.M }

func (c collected) Run() int {
	defer runtime.GC()
	return c.tests.Run()
}

// No test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(collected{m}) }
