//go:build bufslab_portable && !race

package percpu

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/internal/pin"
)

// onlyNumber0 leaves number 0 alone for goroutines to be pinned to, until the test ends.
// GOMAXPROCS is 1.
func onlyNumber0(t *testing.T) {
	runtime.GC() // two of them empty what no processor has
	runtime.GC()
	var zero pin.Processor
	for on := pin.Pin(); on.ID() < pin.Numbers(); on = pin.Pin() {
		if on.ID() == 0 {
			zero = on
			continue
		}
		t.Cleanup(func() { pin.Unpin(on) })
	}
	pin.Unpin(zero)
}

// checkQuiesceWaitsForThePinned has nothing to check: only marks are waited for.
func checkQuiesceWaitsForThePinned(*testing.T) {}
