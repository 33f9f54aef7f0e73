package slab

import (
	"errors"

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
