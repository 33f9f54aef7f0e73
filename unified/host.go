package unified

import (
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Host returns the contents for reading: a slice of the host memory, which is
// brought up to date first. It is not to be written to, and not to be used after
// Free. An error leaves everything as it was.
func (b *Buffer[T]) Host() ([]T, error) { return b.slice(readHost) }

// HostMut returns the contents for reading and writing, up to date. The
// device side counts as behind from now on, so write before it is asked for.
func (b *Buffer[T]) HostMut() ([]T, error) { return b.slice(writeHost) }

// HostOverwrite is HostMut for who writes every element: nothing is
// copied first, what was there is lost, and the slice holds anything.
func (b *Buffer[T]) HostOverwrite() ([]T, error) { return b.slice(overwriteHost) }

// HostRange is Host for elements i to below j: only they move. The error
// wraps device.ErrSize for a range that is not inside b.
func (b *Buffer[T]) HostRange(i, j int) ([]T, error) { return b.sliceOf(i, j, readHost) }

// HostMutRange is HostMut for elements i to below j, and only they count as
// written.
func (b *Buffer[T]) HostMutRange(i, j int) ([]T, error) { return b.sliceOf(i, j, writeHost) }

func (b *Buffer[T]) sliceOf(i, j int, c access) ([]T, error) {
	v, err := b.View(i, j)
	if err != nil {
		return nil, err
	}
	return v.slice(c)
}

func (b *Buffer[T]) slice(c access) (m []T, err error) {
	err = b.with(c, func(own []T) { m = own })
	return m, err
}

// with makes an access of the host side and calls f with its memory, before
// anybody else gets at the buffer.
func (b *Buffer[T]) with(c access, f func([]T)) error {
	a, err := b.lock()
	if err != nil {
		return err
	}
	defer a.mu.Unlock()
	if err := a.access(b.lo, b.hi, c, nil); err != nil {
		return err
	}
	if b.lo == b.hi {
		f([]T{})
		return nil
	}
	f(unsafe.Slice((*T)(a.base()), a.n)[b.lo:b.hi:b.hi])
	return nil
}

// SyncToHost brings the host side up to date, if there is anything that it does
// not have.
func (b *Buffer[T]) SyncToHost() error { return b.access(syncHost, nil) }

// MarkHostDirty says that the host side was written through a slice, all of
// it: the device side is behind. The error wraps ErrConflict if the device
// side has been written since, because that would be lost, and
// ErrUninitialized if the host side holds nothing. Nothing changes then.
// For a part of the buffer mark a view.
func (b *Buffer[T]) MarkHostDirty() error { return b.access(markHost, nil) }

// CopyFrom overwrites the contents with src, on the host side. The error
// wraps device.ErrSize if the lengths differ.
func (b *Buffer[T]) CopyFrom(src []T) error {
	if err := b.fits("from", len(src)); err != nil {
		return err
	}
	return b.with(overwriteHost, func(m []T) { copy(m, src) })
}

// CopyTo copies the contents to dst. The error wraps device.ErrSize if the
// lengths differ.
func (b *Buffer[T]) CopyTo(dst []T) error {
	if err := b.fits("to", len(dst)); err != nil {
		return err
	}
	return b.with(readHost, func(m []T) { copy(dst, m) })
}

func (b *Buffer[T]) fits(which string, n int) error {
	if n != b.Len() {
		return fmt.Errorf("unified: copy of %d elements %s %d: %w", b.Len(), which, n, device.ErrSize)
	}
	return nil
}

// ToSlice returns a copy of the contents, which is the caller's own.
func (b *Buffer[T]) ToSlice() (own []T, err error) {
	err = b.with(readHost, func(m []T) { own = append(make([]T, 0, len(m)), m...) })
	return own, err
}

// Fill sets every element to v, on the host side.
func (b *Buffer[T]) Fill(v T) error {
	return b.with(overwriteHost, func(m []T) {
		if len(m) > 0 {
			m[0] = v
		}
		for n := 1; n < len(m); n *= 2 {
			copy(m[n:], m[:n]) // moves memory faster than a loop
		}
	})
}

// Zero sets every element to zero, on the host side.
func (b *Buffer[T]) Zero() error { return b.with(overwriteHost, func(m []T) { clear(m) }) }
