package device

import "errors"

var (
	// ErrOutOfMemory says that there was no room. Nothing changed.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrUnavailable says that a device, its driver or one of its abilities is not there.
	ErrUnavailable = errors.New("unavailable")
	// ErrDeviceLost says that the device has failed and takes no more work.
	ErrDeviceLost = errors.New("device lost")
	// ErrClosed says that the device was closed.
	ErrClosed = errors.New("closed")
	// ErrSize says that a size is negative, overflows or does not match.
	ErrSize = errors.New("invalid size")
)
