package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// What a pool does with buffers that were never released. slab/internal/handle/finalize.go
// finds them.

// watchLimit is the size above which a block off the heap is worth a finalizer of its
// own, where the program can have slices of it. It is a page: if a slice was taken, no
// page of a smaller block could go back, and finalizers make collections longer.
const watchLimit = 4 << 10

// watchFrom returns the bytes from which a block off the heap has a finalizer, if the CPU
// can reach it and if not. A block that the CPU cannot reach can always come back.
func watchFrom(c Config) (reachable, unreachable int) {
	switch {
	case c.OnForget == "report":
		return 1, 1
	case isVirtual(c.Device): // there is no memory to bring back
		return watchLimit + 1, watchLimit + 1
	}
	return watchLimit + 1, 1
}

// unwatchedBytes returns about how many active bytes off the heap are in blocks without a finalizer, where few blocks
// are cached.
func (p *pool) unwatchedBytes(s Stats) int64 {
	if p.isCollected() {
		return 0
	}
	return max(0, s.ActiveBytes-p.table.WatchedBytes())
}

// wasForgotten is called for a forgotten block. The caller holds table.mu, and runs on a
// goroutine that others wait for: another goroutine asks the streams, as they may be
// slow.
func (p *pool) wasForgotten(e handle.Entry, escaped bool) (inUse bool) {
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

// regionFound is called for a region of the Go heap that nothing reaches.
func (r *room) regionFound(dead device.Region) {
	if r.guard.Guard != nil {
		r.guard.Found(dead)
		r.wake()
	}
}

var _ quarantiner = canaried{}
