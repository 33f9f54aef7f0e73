package wrap

import (
	"log/slog"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/canary"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Check passes allocations through and looks for misuse. It puts canaries around each block and
// verifies them at Free, fills blocks with poison when they come and go, and remembers the place of
// each Alloc. It panics with the fault and that place. Memory that the CPU cannot reach has no
// canaries and no poison.
//
// A Check does not find a write after Free, as Config.Check of a pool does: it does not know what the
// upstream does with free blocks. The upstream may keep links in them, or have given them back.
//
// It is for tests: a block costs 128 bytes more, and a look at the call stack. Blocks are aligned to
// 64 bytes at most.
type Check struct {
	forward
	blocks *canary.Check
}

var _ slab.Allocator = (*Check)(nil)

// NewCheck returns a Check over an upstream.
func NewCheck(up slab.Allocator) *Check {
	return &Check{upstream.ForwardTo(up), canary.New(up, 1, slog.Default)}
}

// Alloc returns a block with canaries around it, filled with poison. Size 0 gives the zero Block, a
// negative size an error that wraps slab.ErrSize.
func (c *Check) Alloc(size int) (device.Block, error) { return c.blocks.Alloc(size) }

// Free verifies the canaries, fills the block with poison and gives it to the upstream. It panics if
// b is not active, or if something wrote beyond it; in the second case the block is freed. If the
// upstream panics, b may be freed again.
func (c *Check) Free(b device.Block) { c.blocks.Free(b) }

// Leaks lists the active blocks, with the place of their Alloc, by size.
func (c *Check) Leaks() (list []slab.Leak) {
	for _, l := range c.blocks.Leaks() {
		list = append(list, slab.Leak(l))
	}
	return list
}

// Usage is the upstream's, with canaries as rounding.
func (c *Check) Usage() slab.Usage {
	u := c.forward.Usage()
	n := c.blocks.Canaries(u.ActiveBlocks)
	u.ActiveBytes -= n
	u.RoundingBytes += n
	return u
}
