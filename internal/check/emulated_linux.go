package check

import (
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// emulated reports whether what answers system calls is no kernel: it takes an advice that there is not.
var emulated = sync.OnceValue(func() bool {
	size := os.Getpagesize()
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer unix.MunmapPtr(p, uintptr(size))
	const none = 1 << 20
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, uintptr(p), uintptr(size), none)
	return errno == 0
})

// Kernel skips a test of what the kernel does where an emulator answers in its place, and ignores advice.
func Kernel(t testing.TB) {
	t.Helper()
	if emulated() {
		t.Skip("an emulator answers in the kernel's place, and ignores advice about memory")
	}
}
