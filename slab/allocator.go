package slab

import "github.com/bufslab/bufslab/device"

// An Allocator hands out blocks of memory and takes them back. A device is an Allocator, and
// so is a strategy over another Allocator.
//
// Alloc returns a block whose Len is size, with undefined contents. Size 0
// gives the zero Block without a call upstream. The error wraps [ErrSize] for a
// negative size, and [device.ErrOutOfMemory] where there is no room. An error
// changes nothing.
//
// Free takes a block back exactly as Alloc returned it, and ignores the zero Block.
// Free of a block that is not active is a mistake in the program: Free panics
// with numbers and the allocator stays intact.
//
// Allocators of this package are safe for concurrent use if their upstream is.
type Allocator interface {
	Alloc(size int) (device.Block, error)
	Free(device.Block)
}

// A Holder keeps memory for reuse. Every strategy is a Holder; direct holds only memory that
// its upstream would not take back.
type Holder interface {
	// FreeHeld gives held memory upstream. Blocks that share a region with an
	// active block have to stay.
	FreeHeld()
	// StopHolding is FreeHeld. From now on memory that can go upstream goes at once.
	StopHolding()
}

// A Trimmer gives back memory that was not used for a while. All built-in strategies are Trimmers.
type Trimmer interface {
	// Trim ends an epoch and gives back memory that was held, untouched, for the last idle
	// epochs: Trim(0) gives back as much as FreeHeld, Trim(1) the memory that was
	// held already at the last Trim. It returns the bytes that went upstream.
	Trim(idle int) int64
}

// A UsageReporter says what an allocator does with the bytes that it has from
// upstream. Every strategy is a UsageReporter.
type UsageReporter interface{ Usage() Usage }

// Usage splits the bytes that a strategy has from its upstream:
//
//	managed = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
type Usage struct {
	ActiveBlocks, HeldBlocks int64
	ActiveBytes              int64 // as asked for
	RoundingBytes            int64 // of active blocks, beyond the bytes asked for
	HeldBytes                int64 // free, and could be handed out
	UnusableBytes            int64 // the rest: tails of slabs, alignment
}

// ManagedBytes is the sum of the four.
func (u Usage) ManagedBytes() int64 {
	return u.ActiveBytes + u.RoundingBytes + u.HeldBytes + u.UnusableBytes
}

// usageOf returns the Usage of a strategy. If it has none, all managed bytes count as handed out.
func usageOf(strategy Allocator, managed int64) Usage {
	if u, ok := strategy.(UsageReporter); ok {
		return u.Usage()
	}
	return Usage{ActiveBytes: managed}
}
