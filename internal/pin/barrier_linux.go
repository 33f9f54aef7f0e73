package pin

import (
	"sync"

	"golang.org/x/sys/unix"
)

// The commands of membarrier(2) that Barrier needs.
const (
	privateExpedited         = 1 << 3
	registerPrivateExpedited = 1 << 4
)

// registered tells whether the system has barriers for this process.
var registered = sync.OnceValue(func() bool { return membarrier(registerPrivateExpedited) })

var prepare sync.Once

// Prepare begins what makes the first Barrier of a process slow, and does not wait for it: some
// milliseconds, in which the system waits for all processors.
func Prepare() { prepare.Do(func() { go registered() }) }

// Ready waits for what Prepare began.
func Ready() { registered() }

// Barrier makes every thread of the process that runs pass a full memory
// barrier before it returns; those that do not run pass one before they do. It
// takes 0.4 to 10 microseconds; the first one waits for what Prepare began. It
// reports false, having done nothing, where the system cannot do that.
func Barrier() bool { return registered() && membarrier(privateExpedited) }

func membarrier(command uintptr) bool {
	_, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
