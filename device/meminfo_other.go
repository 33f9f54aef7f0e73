//go:build !linux && !windows

package device

import (
	"fmt"
	"runtime"
)

// systemMemory is for systems that have no portable answer. It does not guess, as
// callers would take the guess for an answer.
func systemMemory() (free, total int64, err error) {
	return 0, 0, fmt.Errorf("device: memory of %s: %w", runtime.GOOS, ErrUnavailable)
}
