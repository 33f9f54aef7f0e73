package pin

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
)

// Barrier tells whether the system has made one: it never says so of one that was
// refused, from the start or later, and always where the system offers them.
func TestBarrierTellsWhetherItWas(t *testing.T) {
	const query = 0 // the command that returns those there are
	offered, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, query, 0, 0)
	has := errno == 0 && offered&privateExpedited != 0 && offered&registerPrivateExpedited != 0
	switch check.Way() {
	case "":
		for _, way := range []string{"none", "later", "EPERM", "ENOSYS"} {
			check.Again(t, way)
		}
	case "none":
		if Barrier() != has {
			t.Errorf("Barrier is %v where the system offers %b", !has, offered)
		}
	case "later":
		Barrier()
		check.RefuseSyscall(t, unix.SYS_MEMBARRIER, unix.EPERM)
		wantRefused(t)
	case "EPERM":
		check.RefuseSyscall(t, unix.SYS_MEMBARRIER, unix.EPERM)
		wantRefused(t)
	case "ENOSYS":
		check.RefuseSyscall(t, unix.SYS_MEMBARRIER, unix.ENOSYS)
		wantRefused(t)
	}
}

func wantRefused(t *testing.T) {
	t.Helper()
	if Barrier() {
		t.Error("Barrier is true where it was refused")
	}
}

// What the first Barrier would wait for is on its way once Prepare was called, any number of times, and Ready waits for
// it.
func TestPrepareRegisters(t *testing.T) {
	for range 3 {
		Prepare()
		Ready()
	}
	if has := registered(); Barrier() != has {
		t.Errorf("Barrier is %v where the process is registered: %v", !has, has)
	}
}
