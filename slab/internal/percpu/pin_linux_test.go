//go:build !race

package percpu

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/internal/refuse"
)

// Where the system refuses membarrier(2), as some sandboxes do, quiesce and the caches
// do what they do elsewhere.
func TestWithoutABarrier(t *testing.T) {
	ways := map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}
	if refuse.Way() == "" {
		for way := range ways {
			refuse.Again(t, way)
		}
		return
	}
	refuse.Syscall(t, unix.SYS_MEMBARRIER, ways[refuse.Way()])
	if pin.Barrier() {
		t.Fatal("there is a barrier")
	}
	TestQuiesceWaitsForTheBusy(t)
	checkQuiesceWaitsForThePinned(t)
	TestReclaimAgainstHits(t)
	TestCountersAddUp(t)
}
