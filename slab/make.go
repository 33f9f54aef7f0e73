package slab

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/shape"
)

// ErrElement says that values of a type cannot lie in a pool's memory: they have no bytes, or
// hold pointers, which the collector would not see there.
var ErrElement = errors.New("no element of pooled memory")

// A Slice is a [PooledBuffer] of values of type T. Copy it freely: all copies are handles of the
// same buffer, and the first Release counts. The zero Slice has no elements and counts as
// released. A Slice that is never released comes back as a PooledBuffer does: see [Pool]. Its
// methods are safe for concurrent use; they do not guard the elements.
type Slice[T any] struct{ buffer PooledBuffer }

// Make returns a Slice of n values of type T. The contents are undefined as with [Pool.Get], and
// cleared with Config.Zero: do not read elements before you have written them, and use
// clear(s.Slice()) where you need zeros. The elements are aligned as T requires.
//
// The error wraps [ErrElement] if T holds pointers at any depth (strings, slices, maps and
// interfaces are pointers) or has no bytes, [ErrSize] if n is negative or the bytes do not
// fit in an int, and device.ErrUnavailable where the CPU cannot reach the pool's
// memory. Other errors are those of [Pool.Get]. After an error nothing stays allocated.
//
// It is not for a handful of bytes: Make of package arena costs less.
func Make[T any](p *Pool, n int) (Slice[T], error) {
	t := reflect.TypeFor[T]()
	if why := shape.Unfit(t); why != "" {
		return Slice[T]{}, fmt.Errorf("slab: type %v %s: %w", t, why, ErrElement)
	}
	size, ok := shape.Bytes[T](n)
	if !ok {
		return Slice[T]{}, fmt.Errorf("slab: %d values of type %v: %w", n, t, ErrSize)
	}
	b, err := p.Get(size)
	if err == nil && b.ptr == nil {
		err = errors.Join(fmt.Errorf("slab: the CPU does not reach the pool's memory: %w", device.ErrUnavailable),
			b.Release())
	}
	if err != nil {
		return Slice[T]{}, err
	}
	return Slice[T]{b}, nil
}

// Len returns the number of elements that was asked for, also after Release.
func (s Slice[T]) Len() int {
	var zero T
	return s.buffer.n / max(1, int(unsafe.Sizeof(zero))) // only a zero Slice has a T without bytes
}

// Slice returns the elements; the capacity is the length. It returns nil after Release; do not
// use earlier results then. Off the Go heap the result does not keep the memory: keep s.
func (s Slice[T]) Slice() []T { return shape.Elements[T](s.buffer.Bytes()) }

// Release gives the memory back. Of all Releases for one Make exactly one returns nil, the
// others return [ErrReleased]: see [PooledBuffer.Release].
func (s Slice[T]) Release() error { return s.buffer.Release() }
