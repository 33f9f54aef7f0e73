package device

import (
	"sync"
	"syscall"
	"unsafe"
)

// pagemap is a file of the kernel's with eight bytes for each page of the process. It stays open. It is negative
// where there is none.
var pagemap = sync.OnceValue(func() int { return openPages("/proc/self/pagemap") })

// openPages opens a pagemap. It returns a negative number if there is none, or one that denies memory to a page that
// was written: what stands in for a kernel may have a file of zeros, by which nothing would be cleared.
func openPages(path string) int {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	written := []uint64{1}
	at := uintptr(unsafe.Pointer(&written[0])) / uintptr(syscall.Getpagesize())
	if !pagesOf(fd, at, written) || !hasMemory(written[0]) {
		_ = syscall.Close(fd) // only read
		return -1
	}
	return fd
}

// readPages reads what the kernel says of the pages from the first on, and reports whether it does.
func readPages(first uintptr, pages []uint64) bool {
	fd := pagemap()
	return fd >= 0 && pagesOf(fd, first, pages)
}

func pagesOf(fd int, first uintptr, pages []uint64) bool {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&pages[0])), 8*len(pages))
	n, err := syscall.Pread(fd, b, int64(first)*8)
	return err == nil && n == len(b)
}

// hasMemory reports whether a page is in memory, or was swapped out.
func hasMemory(page uint64) bool { return page>>62 != 0 }
