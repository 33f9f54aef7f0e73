//go:build darwin || dragonfly || freebsd || netbsd || openbsd || solaris

package device

import "golang.org/x/sys/unix"

// dropLocked cannot be done here: locked pages stay.
func dropLocked([]byte) error { return unix.EINVAL }

// populate leaves it to the first use of each page.
func populate([]byte) {}
