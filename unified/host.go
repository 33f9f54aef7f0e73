package unified

import (
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Host brings the host memory up to date and returns it for reading. Do not
// write to the slice, and do not use it after Free. An error leaves everything
// as it was.
func (b *Buffer[T]) Host() ([]T, error) { return b.slice(readHost) }

// HostMut brings the host memory up to date and returns it for reading and
// writing. From now on the device side counts as behind, so write before you ask
// for it.
func (b *Buffer[T]) HostMut() ([]T, error) { return b.slice(writeHost) }

// HostOverwrite is HostMut for a caller that writes every element. It copies
// nothing: the old contents are lost, and the slice is undefined.
func (b *Buffer[T]) HostOverwrite() ([]T, error) { return b.slice(overwriteHost) }

// HostRange is Host for the elements from i to below j. Only they are copied.
// The error wraps device.ErrSize for a range that is not inside b.
func (b *Buffer[T]) HostRange(i, j int) ([]T, error) { return b.sliceOf(i, j, readHost) }

// HostMutRange is HostMut for the elements from i to below j. Only they are
// copied, and only they count as written.
func (b *Buffer[T]) HostMutRange(i, j int) ([]T, error) { return b.sliceOf(i, j, writeHost) }

func (b *Buffer[T]) sliceOf(i, j int, c access) ([]T, error) {
	v, err := b.View(i, j)
	if err != nil {
		return nil, err
	}
	return v.slice(c)
}

func (b *Buffer[T]) slice(c access) (m []T, err error) {
	err = b.with(c, func(own []T) {
		b.a.handedOut()
		m = own
	})
	return m, err
}

// with makes an access of the host side and calls f with its memory, under the
// array's lock.
func (b *Buffer[T]) with(c access, f func([]T)) error {
	a, err := b.lock()
	if err != nil {
		return err
	}
	defer a.mu.Unlock()
	if err := a.access(b.lo, b.hi, c, nil); err != nil {
		return err
	}
	if b.lo == b.hi || a.elem == 0 {
		f(make([]T, b.hi-b.lo)) // it takes no memory
		return nil
	}
	f(unsafe.Slice((*T)(a.base()), a.n)[b.lo:b.hi:b.hi])
	return nil
}

// SyncToHost copies the elements that are current only on the device side to the host
// side. It does nothing where both sides are current, or where neither has contents.
func (b *Buffer[T]) SyncToHost() error { return b.access(syncHost, nil) }

// MarkHostDirty says that every element of the host side was written through a
// slice, so that the device side is behind. The error wraps ErrConflict if the
// device side was written too, because the device's write would be lost, and
// ErrUninitialized if the host side has no contents. After an error nothing has
// changed. To mark a part of the buffer call MarkHostDirty of a view.
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
	if n == b.Len() {
		return nil
	}
	a, err := b.lock() // a buffer that has ended says so
	if err != nil {
		return err
	}
	a.mu.Unlock()
	return fmt.Errorf("unified: copy of %d elements %s %d: %w", b.Len(), which, n, device.ErrSize)
}

// ToSlice returns a copy of the contents. The caller owns it.
func (b *Buffer[T]) ToSlice() (own []T, err error) {
	err = b.with(readHost, func(m []T) { own = append(make([]T, 0, len(m)), m...) })
	return own, err
}

// Fill sets every element to v, on the host side.
func (b *Buffer[T]) Fill(v T) error {
	return b.with(overwriteHost, func(m []T) {
		if len(m) == 0 || sizeOf[T]() == 0 {
			return
		}
		m[0] = v
		for n := 1; n < len(m); n *= 2 { // of a byte or more, so that it does not overflow
			copy(m[n:], m[:n]) // moves memory faster than a loop
		}
	})
}

// Zero sets every element to zero, on the host side.
func (b *Buffer[T]) Zero() error { return b.with(overwriteHost, func(m []T) { clear(m) }) }
