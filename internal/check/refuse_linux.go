package check

import (
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const refusing = "BUFSLAB_REFUSE"

// Again runs the calling test again in a process of its own, with way as what Way returns there. What
// fails or skips there does so here.
func Again(t *testing.T, way string) {
	t.Helper()
	InChild(t, refusing+"="+way)
}

// Way returns what the parent process has passed to Again, or "" in that process.
func Way() string { return os.Getenv(refusing) }

// RefuseSyscall has the kernel answer a system call with errno from now on, on every thread.
// It skips the test where the kernel does not do that. There is no way back.
func RefuseSyscall(t *testing.T, number uintptr, errno unix.Errno) {
	t.Helper()
	const load, equal = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	const result = unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the call
		{Code: equal, K: uint32(number), Jf: 1},
		{Code: result, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: result, K: unix.SECCOMP_RET_ALLOW},
	}
	runtime.LockOSThread() // both calls have to be of one thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skip("the process cannot filter its calls: ", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter))); err != 0 {
		t.Skip("the process cannot filter its calls: ", err)
	}
}
