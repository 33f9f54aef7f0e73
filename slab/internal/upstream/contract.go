// Package upstream is what lies between a strategy and the memory that it
// draws on:
//
//	contract.go    the errors and the panic of the contract of an Allocator
//	checked.go     what a source returns is verified once in a whole stack
//	accounting.go  bytes and calls are counted
//	regions.go     which part of which region a block was cut from
//	layers.go      what blocks pass through as they are
//	forward.go     what a wrapper passes on to its upstream
package upstream

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// ErrUpstream says that an upstream broke its contract.
var ErrUpstream = errors.New("slab: upstream broke its contract")

// OutOfMemory reports whether err says that there was no room.
func OutOfMemory(err error) bool { return err != nil && errors.Is(err, device.ErrOutOfMemory) }

// MaxSize is the most bytes that are asked of an upstream at a time: sums of sizes
// stay far from overflow.
const MaxSize = int(^uint(0)>>1) >> 2

// CheckSize returns the error of an Alloc whose size is negative or more than MaxSize.
func CheckSize(size int) error {
	if size < 0 {
		return fmt.Errorf("slab: Alloc of %d bytes: %w", size, device.ErrSize)
	}
	if size > MaxSize {
		return fmt.Errorf("slab: Alloc of %d bytes: %w", size, device.ErrOutOfMemory)
	}
	return nil
}

// NotOut is what a Free panics with whose block is not out.
func NotOut(b device.Block) string {
	return fmt.Sprintf("slab: Free of a block that is not out, %d bytes at offset %d", b.Len, b.Off)
}
