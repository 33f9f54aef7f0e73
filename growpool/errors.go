package growpool

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

var (
	// ErrShape says that a shape has no dimension, a dimension below 0, or more
	// elements than can be counted in bytes. Errors that wrap it wrap
	// [device.ErrSize] too.
	ErrShape = fmt.Errorf("no shape of a buffer: %w", device.ErrSize)
	// ErrElement says that a type cannot be the element of a buffer: it holds
	// pointers, which the collector would not see there, has no bytes, or needs
	// more alignment than the pool's memory has. For a Ref it says that the lease
	// has another element type.
	ErrElement = errors.New("no element of a buffer")
	// ErrLeased says that Get was called for a key that is leased, by [Acquire].
	ErrLeased = errors.New("leased")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("growpool: pool closed")
	// errNoStream is the error for a nil stream.
	errNoStream = fmt.Errorf("growpool: no stream: %w", device.ErrUnavailable)
	// errNotMade is the error of a Pool that New has not made.
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

// A BudgetError says that Config.MaxBytes has no room for a buffer, as the other buffers cannot
// be dropped. No lease has lost anything, but keys may have lost their buffers, as always when a
// lease needs room: the buffer of a leased key stays with its lease until Release. It wraps
// [device.ErrOutOfMemory].
type BudgetError struct {
	Bytes    int64 // of the buffer
	Held     int64 // by the pool, also for calls that wait for memory
	MaxBytes int64
	Pool     string // the name of the slab.Pool
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("growpool: pool on %s: budget of %d bytes, %d held, %d asked: %v", e.Pool, e.MaxBytes, e.Held,
		e.Bytes, device.ErrOutOfMemory)
}

// Unwrap returns [device.ErrOutOfMemory].
func (e *BudgetError) Unwrap() error { return device.ErrOutOfMemory }

// outOfMemory reports whether a smaller request might have succeeded.
func outOfMemory(err error) bool {
	return errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, slab.ErrSize)
}
