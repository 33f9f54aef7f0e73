//go:build darwin || dragonfly || freebsd || linux || netbsd || solaris

package device

import "golang.org/x/sys/unix"

// addressLimit returns how many bytes of addresses the process may have, as the
// system's limit is now: RLIMIT_AS. Without one it is the largest uint64.
func addressLimit() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil {
		return ^uint64(0)
	}
	return uint64(l.Cur)
}
