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
