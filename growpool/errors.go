package growpool

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

var (
	// ErrShape says that a shape has no dimension, one below 0, or more
	// elements than can be counted in bytes. Errors that wrap it wrap
	// [device.ErrSize] too.
	ErrShape = fmt.Errorf("no shape of a buffer: %w", device.ErrSize)
	// ErrElement says that a type cannot be the element of a buffer: it holds
	// pointers, which the collector would not see there, has no bytes,
	// wants to be aligned better than the pool's memory is, or is not that of the
	// lease which a Ref names.
	ErrElement = errors.New("no element of a buffer")
	// ErrLeased says that Get was called for a key that is leased, by [Acquire].
	ErrLeased = errors.New("leased")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("growpool: pool closed")
	// errNoStream is of a nil stream.
	errNoStream = fmt.Errorf("growpool: no stream: %w", device.ErrUnavailable)
	// errNotMade is of a Pool that New has not made.
	errNotMade = fmt.Errorf("growpool: a nil or zero Pool, which New has not made: %w", device.ErrUnavailable)
	// ErrReleased says that a lease was released before. It wraps [slab.ErrReleased].
	ErrReleased = fmt.Errorf("growpool: Lease released already (%w)", slab.ErrReleased)
)

func shapeError(shape []int) error {
	return fmt.Errorf("growpool: shape %v: %w", slices.Clone(shape), ErrShape)
}

func leasedError(key any) error {
	return fmt.Errorf("growpool: Get of key %#v: %w", key, ErrLeased)
}

// A BudgetError says that a buffer does not fit in Config.MaxBytes beside what
// cannot be dropped. No lease has lost anything, but keys that are not in use may have lost their
// buffers, as ever when a lease needs room. It wraps [device.ErrOutOfMemory].
type BudgetError struct {
	Bytes    int64 // of the buffer
	Held     int64 // by the pool
	MaxBytes int64
	Pool     string // the name of the slab.Pool
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("growpool: pool on %s: budget of %d bytes, %d held, %d asked: %v", e.Pool, e.MaxBytes, e.Held, e.Bytes, device.ErrOutOfMemory)
}

// Unwrap returns [device.ErrOutOfMemory].
func (e *BudgetError) Unwrap() error { return device.ErrOutOfMemory }

// outOfMemory reports whether less might have been had.
func outOfMemory(err error) bool {
	return errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, slab.ErrSize)
}
