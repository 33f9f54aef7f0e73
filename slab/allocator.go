package slab

import "github.com/bufslab/bufslab/device"

// An Allocator hands out blocks of memory and takes them back: Alloc(size) and Free(block). A
// device is an Allocator, and so is a strategy over another Allocator. Allocators of this
// package are safe for concurrent use if their upstream is.
type Allocator = device.Allocator

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

// Usage splits the bytes that a strategy has from its upstream.
type Usage = device.Usage

// usageOf returns the Usage of a strategy. If it has none, all managed bytes count as handed out.
func usageOf(strategy Allocator, managed int64) Usage {
	if u, ok := strategy.(UsageReporter); ok {
		return u.Usage()
	}
	return Usage{ActiveBytes: managed}
}
