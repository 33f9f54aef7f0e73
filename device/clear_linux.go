package device

import (
	"sync"
	"syscall"
	"unsafe"
)

// pagemap is a file of the kernel's with eight bytes for each page of the process. It stays open. It is negative
// where there is none.
var pagemap = sync.OnceValue(func() int {
	fd, err := syscall.Open("/proc/self/pagemap", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
})

// readPages reads what the kernel says of the pages from the first on, and reports whether it does.
func readPages(first uintptr, pages []uint64) bool {
	fd := pagemap()
	if fd < 0 {
		return false
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&pages[0])), 8*len(pages))
	n, err := syscall.Pread(fd, b, int64(first)*8)
	return err == nil && n == len(b)
}

// hasMemory reports whether a page is in memory, or was swapped out.
func hasMemory(page uint64) bool { return page>>62 != 0 }
