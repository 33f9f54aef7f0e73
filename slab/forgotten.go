package slab

import (
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// What a pool does with buffers that were never released. How they are found stands
// in slab/internal/handle/finalize.go.

// watchLimit is the size above which a block off the heap is worth a finalizer of
// its own.
const watchLimit = 32 << 10

// watchFrom returns the bytes from which a block off the heap has a finalizer.
func watchFrom(c Config) int {
	if c.OnForget == "report" {
		return 1
	}
	return watchLimit + 1
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
		p.check.setLate(a.Block, foundForgotten)
		p.blocks.FreeExtent(a.Block, a.Extent)
	}
	if p.config.OnForget == "free" {
		p.freeHeld()
	}
}
