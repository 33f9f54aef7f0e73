package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/watch"
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
	switch {
	case c.OnForget == "report":
		return 1, 1
	case isVirtual(c.Device): // there is no memory to bring back
		return watchLimit + 1, watchLimit + 1
	}
	return watchLimit + 1, 1
}

// forgotten is told of a forgotten block. The caller holds table.mu, and runs on a
// goroutine that others wait for: streams are asked on another one, as they may be
// slow.
func (p *pool) forgotten(e handle.Entry, escaped bool) (inUse bool) {
	p.leaks.Forgotten(e.Slot, escaped)
	p.profile.Forgotten(e.Slot)
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
		p.check.SetLate(a.Block, watch.FoundForgotten)
		p.blocks.FreeExtent(a.Block, a.Extent)
	}
	if p.config.OnForget == "free" {
		p.freeHeld()
	}
	p.freed()
}

// regionFound is told of a region of the Go heap that nothing reaches.
func (p *pool) regionFound(r device.Region) {
	if p.guard.Guard != nil {
		p.guard.Found(r)
		p.wake()
	}
}

var (
	_ quarantiner = builtin{}
	_ quarantiner = canaried{}
)
