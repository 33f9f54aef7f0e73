// Package base holds what the devices of all packages have in common.
package base

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// The errors of package device, which documents them. They stand here because
// this package is below it.
var (
	ErrOutOfMemory = errors.New("out of memory")
	ErrUnavailable = errors.New("unavailable")
	ErrDeviceLost  = errors.New("device lost")
	ErrClosed      = errors.New("closed")
	ErrSize        = errors.New("invalid size")
)

// A Device is a name, and whether Close was called.
type Device struct {
	pkg, name string
	closed    atomic.Bool
}

// Named returns a device that is open. Errors begin with pkg.
func Named(pkg, name string) *Device { return &Device{pkg: pkg, name: name} }

// Name returns the name that device.Open takes.
func (d *Device) Name() string { return d.name }

// Close fails on its second call, as every other call does after the first.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return d.errClosed()
	}
	return nil
}

// Usable returns the error of every call that comes after Close.
func (d *Device) Usable() error {
	if d.closed.Load() {
		return d.errClosed()
	}
	return nil
}

func (d *Device) errClosed() error { return fmt.Errorf("%s: %s: %w", d.pkg, d.name, ErrClosed) }

// StreamClosed returns the error of every call after Close of a stream.
func (d *Device) StreamClosed() error {
	return fmt.Errorf("%s: stream of %s: %w", d.pkg, d.name, ErrClosed)
}

// CheckAlloc is the first line of every Alloc and Reserve. It judges the size
// before anything happens, so a refused call leaves no trace.
func (d *Device) CheckAlloc(size int) error {
	if size < 0 {
		return d.AllocError(size, ErrSize)
	}
	return d.Usable()
}

// AllocError says that Alloc of size bytes failed, and why.
func (d *Device) AllocError(size int, why error) error {
	return fmt.Errorf("%s: alloc of %d bytes on %s: %w", d.pkg, size, d.name, why)
}

// BadFree panics: a block that is freed twice may have another owner by now,
// so there is no way to go on.
func (d *Device) BadFree(size, off int) {
	panic(fmt.Sprintf("%s: Free of a block that is not out, %d bytes at offset %d of %s", d.pkg, size, off, d.name))
}

// CheckSpan returns an error unless n bytes from off lie in size bytes, on
// whole pages.
func CheckSpan(pkg string, off, n, size, page int) error {
	if off < 0 || n < 0 || n > size-off || (off|n)&(page-1) != 0 {
		return fmt.Errorf("%s: %d bytes at offset %d of %d in pages of %d: %w", pkg, n, off, size, page, ErrSize)
	}
	return nil
}
