package device

import "golang.org/x/sys/unix"

// dropLocked is MADV_DONTNEED for pages that mlock(2) or mlockall(2) keeps, from Linux
// 5.18 on. They are locked again when they are next used.
func dropLocked(m []byte) error { return unix.Madvise(m, unix.MADV_DONTNEED_LOCKED) }

// advise tells the system which pages to use: huge pages wherever one byte of 2 MiB is used, or only small
// pages, so that khugepaged does not fill pages again that were given back. With huge pages a range commits
// and gives back whole ones, so khugepaged has nothing to fill.
func advise(m []byte, pages string) error {
	switch pages {
	case "huge":
		return unix.Madvise(m, unix.MADV_HUGEPAGE)
	case "small":
		return unix.Madvise(m, unix.MADV_NOHUGEPAGE)
	}
	return nil
}

// populate finds memory for all pages at once, from Linux 5.14 on. Where it cannot, each page
// gets memory at its first use.
func populate(m []byte) { _ = unix.Madvise(m, unix.MADV_POPULATE_WRITE) }
