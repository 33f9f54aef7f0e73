package unified

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/shape"
)

// A Buffer is an array of T in two places, the host's memory and a device's.
// It knows which elements are current on which side, and copies the others when
// a program asks for them. T holds no pointers.
//
// Its methods are safe for concurrent use, and so are those of its views. The
// memory that they return is not guarded: finish writing to a slice of HostMut
// before any goroutine asks for the device side. A call of HostMut allows writes
// until the buffer is synchronized. To write to the slice after that, call
// HostMut again, or MarkHostDirty when you have written.
//
// Do not copy a Buffer; pass its pointer. A nil or zero Buffer counts as
// released. A Buffer that the program forgets gives its memory back by itself,
// with one exception: pinned memory is never used again if the Buffer has returned
// a slice of it, so free pinned buffers.
type Buffer[T any] struct {
	a      *array
	own    *lease
	lo, hi int // elements of the array
	shape  []int
}

// New returns a buffer of the given shape, row by row, on a device. Without
// dimensions it has one element; with a dimension of 0 it has none, and is
// valid. The first access takes its memory, from pools of the device that all
// buffers of the process share; [FreeHeld] empties these pools. For a strategy and
// a budget of your own make a [Pool] on slab pools of your own.
//
// The contents of a new buffer are zeros. The error wraps device.ErrSize for
// a shape that is negative or too large, ErrType where T holds pointers, and
// device.ErrUnavailable where dev is nil.
func New[T any](dev device.Device, shape ...int) (*Buffer[T], error) {
	return newBuffer[T](dev, false, shape)
}

// NewPinned is New with page-locked host memory, for which copies are faster and
// the host does not wait. Memory of every size is page-locked. The error wraps
// device.ErrUnavailable where the device has no such memory.
func NewPinned[T any](dev device.Device, shape ...int) (*Buffer[T], error) {
	return newBuffer[T](dev, true, shape)
}

func newBuffer[T any](dev device.Device, pinned bool, dims []int) (*Buffer[T], error) {
	n, err := count[T](dims)
	if err != nil {
		return nil, err
	}
	m, err := memoryOf(dev)
	if err != nil {
		return nil, err
	}
	if _, err := m.pool(host, pinned); err != nil {
		return nil, err
	}
	return handle[T](newArray(m, n, sizeOf[T](), pinned), dims), nil
}

// handle returns a buffer over a whole array that has no other owner.
func handle[T any](a *array, dims []int) *Buffer[T] {
	a.leases = 1
	return lend[T](a, part{0, a.n, len(dims)}, dims)
}

// lend returns a buffer over a part of an array, with a lease of its own.
func lend[T any](a *array, x part, dims []int) *Buffer[T] {
	return &Buffer[T]{a: a, own: &lease{a: a, lo: x.lo, hi: x.hi}, lo: x.lo, hi: x.hi, shape: slices.Clone(dims)}
}

func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// count checks a shape and an element type, and returns the number of elements.
func count[T any](dims []int) (n int, err error) {
	t := reflect.TypeFor[T]()
	if at := shape.Pointer(t); at != "" {
		return 0, fmt.Errorf("unified: array of %v, which holds %s: %w", t, at, ErrType)
	}
	n, _, ok := shape.Size(dims, sizeOf[T]())
	if !ok {
		return 0, fmt.Errorf("unified: array of shape %v of %v: %w", dims, t, device.ErrSize)
	}
	return n, nil
}

// Shape returns a copy of the dimensions.
func (b *Buffer[T]) Shape() []int {
	if b == nil {
		return nil
	}
	return slices.Clone(b.shape)
}

// Len returns the number of elements: the product of the shape.
func (b *Buffer[T]) Len() int {
	if b == nil {
		return 0
	}
	return b.hi - b.lo
}

// SizeBytes returns the bytes of all elements on one side.
func (b *Buffer[T]) SizeBytes() int { return b.Len() * sizeOf[T]() }

// Pinned reports whether the host memory is page-locked.
func (b *Buffer[T]) Pinned() bool { return b != nil && b.a != nil && b.a.pinned }

// State says where the contents are current. If elements have different states,
// it is the last of these in the order Uninitialized, Synchronized, HostOnly,
// DeviceOnly, HostDirty, DeviceDirty. For a view only its elements count. After
// Free it is Uninitialized.
func (b *Buffer[T]) State() State {
	a, err := b.lock()
	if err != nil {
		return Uninitialized
	}
	defer a.mu.Unlock()
	return a.res.state(b.lo, b.hi)
}

// lock returns the array locked, or ErrReleased.
func (b *Buffer[T]) lock() (*array, error) {
	if b == nil || b.a == nil {
		return nil, ErrReleased
	}
	b.a.mu.Lock()
	if b.own.over {
		b.a.mu.Unlock()
		return nil, ErrReleased
	}
	return b.a, nil
}

// access is an access of the whole buffer that returns no memory.
func (b *Buffer[T]) access(c access, s device.Stream) error {
	a, err := b.lock()
	if err != nil {
		return err
	}
	defer a.mu.Unlock()
	return a.access(b.lo, b.hi, c, s)
}

// Free ends the buffer and its views. It gives the memory of both sides back to
// its pools, after the work on streams that uses it. Do not use slices and
// blocks of the buffer any more. State, Shape, Len, SizeBytes and Pinned still
// work; every other call fails with ErrReleased, also a second Free. The error
// wraps ErrView on a view of a part.
//
// If [Ref.Get] has returned other buffers of the memory, Free ends b alone. The memory goes back when
// the last of these buffers has ended.
func (b *Buffer[T]) Free() error { return b.end(false) }

// Release gives a buffer back to the pool that it was acquired from. The pool
// keeps it with its contents and state for the next Acquire. Otherwise Release is
// like Free, and a buffer of no pool is freed. If Ref.Get has returned other buffers of the memory, the
// last call decides: the pool keeps the memory if that is a Release.
func (b *Buffer[T]) Release() error { return b.end(true) }

func (b *Buffer[T]) end(keep bool) error {
	last, err := b.giveUp()
	if err != nil || !last {
		return err
	}
	if keep && b.a.keeper != nil {
		b.a.keeper.release(b.a)
	} else {
		b.a.free()
	}
	return nil
}

// giveUp ends the lease. It reports whether it was the last of the array.
func (b *Buffer[T]) giveUp() (last bool, err error) {
	a, err := b.lock()
	if err != nil {
		return false, err
	}
	defer a.mu.Unlock()
	if b.lo != b.own.lo || b.hi != b.own.hi {
		return false, fmt.Errorf("unified: elements %d to %d of %d to be freed: %w", b.lo-b.own.lo, b.hi-b.own.lo,
			b.own.hi-b.own.lo, ErrView)
	}
	b.own.over = true
	b.own.names.end()
	a.leases--
	return a.leases == 0, nil
}

// View returns the elements from i to below j, counted row by row, as a buffer of
// one dimension. The view shares memory and states with b: a write to one is a write
// to both. An access of the view copies only its elements. The view ends with b; to
// free a view of a part is an error. The error wraps device.ErrSize for a range that
// is not inside b.
func (b *Buffer[T]) View(i, j int) (*Buffer[T], error) {
	a, err := b.lock()
	if err != nil {
		return nil, err
	}
	a.mu.Unlock()
	if i < 0 || j < i || j > b.Len() {
		return nil, fmt.Errorf("unified: elements %d to %d of %d: %w", i, j, b.Len(), device.ErrSize)
	}
	return &Buffer[T]{a: b.a, own: b.own, lo: b.lo + i, hi: b.lo + j, shape: []int{j - i}}, nil
}
