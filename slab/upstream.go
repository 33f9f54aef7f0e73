package slab

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// What every strategy has to say to its upstream and its callers.

const (
	maxInt  = int(^uint(0) >> 1)
	noLimit = 1<<63 - 1
	// maxAsk keeps sums of sizes far from overflow.
	maxAsk = maxInt >> 2
)

// checkSize judges a size before anything happens.
func checkSize(size int) error {
	if size < 0 {
		return fmt.Errorf("slab: Alloc of %d bytes: %w", size, ErrSize)
	}
	if size > maxAsk {
		return fmt.Errorf("slab: Alloc of %d bytes: %w", size, device.ErrOutOfMemory)
	}
	return nil
}

// drawWhole is Alloc of an upstream that may break its contract: what is no
// block of size bytes goes back.
func drawWhole(upstream Allocator, size int) (device.Block, error) {
	b, err := upstream.Alloc(size)
	if err != nil {
		return device.Block{}, err
	}
	if b.Region == nil || b.Len != size || b.Off < 0 || b.Region.Size()-b.Off < size {
		if b.Region != nil {
			upstream.Free(b)
		}
		return device.Block{}, fmt.Errorf("%w: a block of %d bytes where %d were asked", ErrUpstream, b.Len, size)
	}
	return b, nil
}

// outOfMemory reports whether err says that there was no room.
func outOfMemory(err error) bool { return errors.Is(err, device.ErrOutOfMemory) }

// heldLimit spells Config's «0 is no limit, negative keeps nothing».
func heldLimit(n int64) int64 {
	switch {
	case n == 0:
		return noLimit
	case n < 0:
		return 0
	}
	return n
}

// notOut is the panic of a Free that cannot be meant.
func notOut(b device.Block) string {
	return fmt.Sprintf("slab: Free of a block that is not out, %d bytes at offset %d", b.Len, b.Off)
}
