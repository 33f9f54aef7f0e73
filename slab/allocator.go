package slab

import (
	"errors"

	"github.com/bufslab/bufslab/device"
)

// An Allocator hands out blocks of memory and takes them back. Strategies wrap
// one and are one; so are devices.
//
// Alloc returns a block whose Len is size, with undefined contents. Size 0
// gives the zero Block without a call upstream. A negative size gives an error
// that wraps [ErrSize]; no room one that wraps [device.ErrOutOfMemory]. An
// error changes nothing.
//
// Free takes a block back exactly as Alloc returned it. The zero Block is
// ignored. A block that is not out is a mistake in the program: Free panics
// with numbers and the allocator stays intact.
//
// Allocators of this package are safe for concurrent use if their upstream is.
type Allocator interface {
	Alloc(size int) (device.Block, error)
	Free(device.Block)
}

// A Holder keeps memory for reuse. Every strategy but direct is one.
type Holder interface {
	// FreeHeld gives everything upstream that is kept for reuse and can be
	// given: blocks that share a region with an active one have to stay.
	FreeHeld()
	// StopHolding is FreeHeld, and from now on nothing is kept that could go upstream.
	StopHolding()
}

// A Trimmer is a Holder that gives back what has not been used for a while.
type Trimmer interface {
	// Trim ends an epoch and gives back what has been held, untouched, for the last idle
	// epochs: Trim(0) gives back all that FreeHeld would, Trim(1) what was
	// held already when Trim was called last. It returns the bytes that went upstream.
	Trim(idle int) int64
}

// A User reports what an allocator does with the bytes that it has from upstream.
type User interface{ Usage() Usage }

// Usage splits the bytes that a strategy has from its upstream:
//
//	managed = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
type Usage struct {
	ActiveBlocks, HeldBlocks int64
	ActiveBytes              int64 // as asked for
	RoundingBytes            int64 // what active blocks have beyond that
	HeldBytes                int64 // free, and could be handed out
	UnusableBytes            int64 // the rest: tails of slabs, alignment
}

// ManagedBytes is the sum of the four.
func (u Usage) ManagedBytes() int64 {
	return u.ActiveBytes + u.RoundingBytes + u.HeldBytes + u.UnusableBytes
}

func (u *Usage) add(size int) { u.ActiveBlocks++; u.ActiveBytes += int64(size) }
func (u *Usage) sub(size int) { u.ActiveBlocks--; u.ActiveBytes -= int64(size) }

var (
	// ErrSize says that a size is negative or too large to be represented.
	ErrSize = device.ErrSize
	// ErrReleased says that a buffer was released before, by this handle or a copy of it.
	ErrReleased = errors.New("slab: PooledBuffer released already")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("slab: pool closed")
	// ErrUpstream says that an upstream broke the contract of Allocator.
	ErrUpstream = errors.New("slab: upstream broke its contract")
)
