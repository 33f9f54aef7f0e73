//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows)

package device

import (
	"fmt"
	"runtime"
)

func openMmap(string) (Device, error) {
	return nil, fmt.Errorf("device: mmap on %s: %w", runtime.GOOS, ErrUnavailable)
}
