package slab

import (
	"strings"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// What a pool does with buffers that were never released. How they are found stands
// in slab/internal/handle/finalize.go.

// watchLimit is the size above which a block off the heap is worth a finalizer of its
// own, where the program can have slices of it. It is a page: of less nothing could go
// back if a slice was taken, and finalizers make collections longer.
const watchLimit = 4 << 10

// watchFrom returns the bytes from which a block off the heap has a finalizer: one that
// the CPU can reach, and one that it cannot, so that it always comes back.
func watchFrom(c Config) (reachable, unreachable int) {
	scheme, _, _ := strings.Cut(c.Device, ":")
	switch {
	case c.OnForget == "report":
		return 1, 1
	case scheme == "virtual": // there is no memory to bring back
		return watchLimit + 1, watchLimit + 1
	}
	return watchLimit + 1, 1
}

// forgotten is told of a forgotten block. The caller holds table.mu, and runs on a
// goroutine that others wait for: streams are asked on another one, as they may be
// slow.
func (p *pool) forgotten(e handle.Entry, escaped bool) (inUse bool) {
	p.leaks.recordForgotten(e.Slot, escaped)
	on := p.pending.EndUse(e.Slot)
	if on == nil {
		return false
	}
	go func() {
		p.await(e, escaped, on)
		p.freeForgotten(nil)
	}()
	return true
}

// freeForgotten gives forgotten blocks to the strategy, and then upstream where
// Config.OnForget asks for it.
func (p *pool) freeForgotten(list []handle.Allocation) {
	for _, a := range list {
		p.leaks.check.setLate(a.Block, foundForgotten)
		p.blocks.FreeExtent(a.Block, a.Extent)
	}
	if p.config.OnForget == "free" {
		p.freeHeld()
	}
}
