package slab

import "github.com/bufslab/bufslab/device"

// An Allocator hands out blocks of memory and takes them back. A device is one, and
// so is a strategy over another one.
//
// Alloc returns a block whose Len is size, with undefined contents. Size 0
// gives the zero Block without a call upstream. The error wraps [ErrSize] for a
// negative size, and [device.ErrOutOfMemory] where there is no room. An error
// changes nothing.
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

// A Holder keeps memory for reuse. Every strategy is one; all that direct ever holds is
// what its pool's upstream would not take.
type Holder interface {
	// FreeHeld gives everything upstream that is kept for reuse and can be
	// given: blocks that share a region with an active one have to stay.
	FreeHeld()
	// StopHolding is FreeHeld, and from now on nothing is kept that could go upstream.
	StopHolding()
}

// A Trimmer gives back what has not been used for a while. All built-in strategies are Trimmers.
type Trimmer interface {
	// Trim ends an epoch and gives back what has been held, untouched, for the last idle
	// epochs: Trim(0) gives back all that FreeHeld would, Trim(1) what was
	// held already when Trim was called last. It returns the bytes that went upstream.
	Trim(idle int) int64
}

// A UsageReporter says what an allocator does with the bytes that it has from
// upstream. Every strategy is one.
type UsageReporter interface{ Usage() Usage }

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

// usageOf asks a strategy. If it does not tell, all managed bytes count as handed out.
func usageOf(strategy Allocator, managed int64) Usage {
	if u, ok := strategy.(UsageReporter); ok {
		return u.Usage()
	}
	return Usage{ActiveBytes: managed}
}
