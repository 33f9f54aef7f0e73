package device

import "golang.org/x/sys/unix"

// dropLocked is MADV_DONTNEED for pages that mlock(2) or mlockall(2) keeps, from Linux
// 5.18 on. They are locked again when they are next used.
func dropLocked(m []byte) error { return unix.Madvise(m, unix.MADV_DONTNEED_LOCKED) }

// populate finds memory for all pages at once, from Linux 5.14 on. Where it cannot, the first
// use of each page does.
func populate(m []byte) { _ = unix.Madvise(m, unix.MADV_POPULATE_WRITE) }
