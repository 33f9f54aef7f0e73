//go:build darwin || dragonfly || freebsd || linux || netbsd || solaris

package device

import "golang.org/x/sys/unix"

// addressLimit returns the bytes of addresses that the process may have, by the
// system's limit of now: RLIMIT_AS. Without a limit it is the largest uint64.
func addressLimit() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil {
		return ^uint64(0)
	}
	return uint64(l.Cur)
}
