//go:build !race

package percpu

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/pin"
)

// Where the system refuses membarrier(2), as some sandboxes do, quiesce and the caches
// do what they do elsewhere.
func TestWithoutABarrier(t *testing.T) {
	ways := map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}
	if check.Way() == "" {
		for way := range ways {
			check.Again(t, way)
		}
		return
	}
	check.RefuseSyscall(t, unix.SYS_MEMBARRIER, ways[check.Way()])
	if pin.Barrier() {
		t.Fatal("there is a barrier")
	}
	TestQuiesceWaitsForTheBusy(t)
	checkQuiesceWaitsForThePinned(t)
	TestReclaimAgainstHits(t)
	TestCountersAddUp(t)
}
