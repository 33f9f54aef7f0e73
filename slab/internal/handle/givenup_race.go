//go:build race

package handle

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
)

// markedBytes bounds the bytes of a block that are marked. To mark a MiB takes 0.2 ms, and twice
// the memory.
const markedBytes = 1 << 20

// GivenUp tells the race detector that the owner of n bytes gives them up, as if it wrote
// them: an access that is not ordered with GivenUp is a race. The detector knows only memory
// of the Go heap.
func GivenUp(e Entry, n int) {
	if e.Mem != nil && n > 0 {
		runtime.RaceWriteRange(e.Mem, min(n, markedBytes))
	}
}

// Sanitized says that GivenUp and TakenOver call C, which pinned code must not.
const Sanitized = false

// TakenOver is for the address sanitizer.
func TakenOver(Entry, int) {}

// Left is for the address sanitizer.
func Left(device.Block) {}
