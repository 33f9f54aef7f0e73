package device

import (
	"fmt"

	"github.com/bufslab/bufslab/device/internal/base"
)

var (
	// ErrOutOfMemory says that there was no room. Nothing changed.
	ErrOutOfMemory = base.ErrOutOfMemory
	// ErrUnavailable says that a device, its driver or one of its abilities is missing.
	ErrUnavailable = base.ErrUnavailable
	// ErrDeviceLost says that the device has failed and takes no more work.
	ErrDeviceLost = base.ErrDeviceLost
	// ErrClosed says that the device or stream was closed.
	ErrClosed = base.ErrClosed
	// ErrSize says that a size is negative, overflows or does not match.
	ErrSize = base.ErrSize
)

// badRest is the error of an opener that cannot use rest.
func badRest(scheme, rest, want string) error {
	return fmt.Errorf("device: %s cannot use %q, only %s: %w", scheme, rest, want, ErrUnavailable)
}
