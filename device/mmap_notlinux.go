//go:build darwin || dragonfly || freebsd || netbsd || openbsd || solaris

package device

import "golang.org/x/sys/unix"

// dropLocked does not exist here: locked pages stay.
func dropLocked([]byte) error { return unix.EINVAL }

// advise cannot tell what pages to use.
func advise(_ []byte, pages string) error {
	if pages == "" {
		return nil
	}
	return unix.ENOSYS
}

// populate does nothing: each page gets memory at its first use.
func populate([]byte) {}
