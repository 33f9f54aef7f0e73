//go:build !linux

package device

import (
	"fmt"
	"runtime"
)

// systemMemory is for systems that have no portable answer. A guess would be
// taken for one.
func systemMemory() (free, total int64, err error) {
	return 0, 0, fmt.Errorf("device: memory of %s: %w", runtime.GOOS, ErrUnavailable)
}
