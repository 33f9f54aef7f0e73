package device

import (
	"fmt"
	"sync/atomic"
)

// common is what the devices of this package share: a name, and whether Close
// was called. Streams and regions refer to their device through it.
type common struct {
	name   string
	closed atomic.Bool
}

func (c *common) Name() string { return c.name }

// Close fails on its second call as every other call does.
func (c *common) Close() error {
	if c.closed.Swap(true) {
		return c.errClosed()
	}
	return nil
}

// usable returns the error of every call that comes after Close.
func (c *common) usable() error {
	if c.closed.Load() {
		return c.errClosed()
	}
	return nil
}

func (c *common) errClosed() error {
	return fmt.Errorf("device: %s: %w", c.name, ErrClosed)
}

// checkAlloc is the first line of every Alloc. Sizes are judged before
// anything happens, so a refused one leaves no trace.
func (c *common) checkAlloc(size int) error {
	if size < 0 {
		return fmt.Errorf("device: alloc of %d bytes on %s: %w", size, c.name, ErrSize)
	}
	return c.usable()
}

func (c *common) errNoRoom(size int) error {
	return fmt.Errorf("device: alloc of %d bytes on %s: %w", size, c.name, ErrOutOfMemory)
}

// badFree panics: a block that is freed twice may be somebody else's by now,
// so there is no way to go on.
func (c *common) badFree(b Block) {
	panic(fmt.Sprintf("device: Free of a block that is not out, %d bytes at offset %d of %s", b.Len, b.Off, c.name))
}

// addressable bounds the sizes that are computed with at all, so that sums of
// two of them do not overflow: 64 TiB, or 1 GiB where an int has 32 bits.
const addressable = 1 << (30 + 16*(^uint(0)>>63))

// A budget counts bytes in use against a capacity, exactly: it never lets
// more be taken, not even for a moment.
type budget struct {
	capacity int64
	inUse    atomic.Int64
}

// take reports whether there was room for n bytes.
func (b *budget) take(n int64) bool {
	for {
		used := b.inUse.Load()
		if n > b.capacity-used {
			return false
		}
		if b.inUse.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

func (b *budget) give(n int64) { b.inUse.Add(-n) }

func (b *budget) free() int64 { return b.capacity - b.inUse.Load() }
