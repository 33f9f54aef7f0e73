package slab

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

var (
	// ErrSize says that a size is negative or too large to be represented.
	ErrSize = device.ErrSize
	// ErrReleased says that a buffer was released before, by this handle or a copy of it.
	ErrReleased = errors.New("slab: PooledBuffer released already")
	// ErrForeign says that a slice is no buffer that the pool has out.
	ErrForeign = errors.New("slab: the slice begins no buffer of this pool that is out")
	// ErrParts says that a buffer has as many parts as it can have.
	ErrParts = errors.New("slab: PooledBuffer with too many parts")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("slab: pool closed")
	// ErrUpstream says that an upstream broke the contract of Allocator.
	ErrUpstream = upstream.ErrUpstream
)

// maxAsk is the most bytes that are asked of an upstream at a time.
const maxAsk = upstream.MaxSize

// outOfMemory reports whether err says that there was no room.
func outOfMemory(err error) bool { return upstream.OutOfMemory(err) }

// An OutOfMemoryError says that there was no room, though all held memory had
// been given back. It wraps what the upstream said, and so [device.ErrOutOfMemory].
type OutOfMemoryError struct {
	Size, Class            int // bytes as asked for; bytes of the block wanted
	HeldBytes, ActiveBytes int64
	Err                    error
	Pool                   string // its name: see Pool.Name
}

func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("slab: pool %s: no room for %d bytes (a block of %d), %d held, %d active: %v",
		e.Pool, e.Size, e.Class, e.HeldBytes, e.ActiveBytes, e.Err)
}

// Unwrap returns the upstream's error.
func (e *OutOfMemoryError) Unwrap() error { return e.Err }

// A GuardError says that the memory of a guarded buffer was used after its Release; see
// Config.Guard.
type GuardError struct {
	Pool  string // its name: see Pool.Name
	Bytes int    // of the block

	// Outlived says that nothing was written, but that something still reached the memory
	// four collections after Release: a slice, or a handle that the program has kept, which
	// is no mistake by itself. It is told of the Go heap only.
	Outlived bool

	Offset int // of the first byte that was written, or touched

	// Got and Released are the stacks of the Get and of the Release, a line for each call
	// outside this package, as function and file:line. A buffer that waited for a stream, or
	// that was forgotten, came back by a call of the pool's, whose stack it is then.
	Got, Released string
}

// Error names both stacks.
func (e *GuardError) Error() string {
	what := fmt.Sprintf("a use at offset %d of", e.Offset)
	if e.Outlived {
		what = "a slice or a handle still reaches"
	}
	return fmt.Sprintf("slab: pool %s: %s a block of %d bytes after its Release\ngot at\n%sreleased at\n%s", e.Pool, what, e.Bytes, e.Got, e.Released)
}
