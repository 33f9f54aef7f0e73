package slab

import (
	"runtime"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// How a block goes to its strategy, for reuse or for good.

// free returns a block to the strategy.
func (p *pool) free(e handle.Entry) {
	p.mu.Lock()
	p.freeLocked(e)
}

// freeLocked is free with mu held. It unlocks mu.
func (p *pool) freeLocked(e handle.Entry) {
	b, extent := p.table.Detach(e.Slot)
	if p.joint == nil {
		p.mu.Unlock()
		p.freeing(func() { p.blocks.FreeExtent(b, extent) })
	} else if over, ok := p.joint.TakeBack(b, extent); over || !ok {
		p.mu.Unlock()
		p.freeing(func() { p.joint.TookBack(b, ok) })
	} else {
		p.mu.Unlock()
		p.freed()
	}
	runtime.KeepAlive(e.Mem) // until now, so that the collector did not find the region dead
}

// freeing runs f, which may call Check or go upstream. If that panics the block is free as well.
func (p *pool) freeing(f func()) {
	defer p.freed()
	f()
}

// freed is called when the pool has given memory to its strategy, or given it up.
func (p *pool) freed() {
	p.changed()
	if p.closed.Load() || p.isAwaited() {
		p.giveOn()
	}
}

// giveOn is freed where the pool is closed or somebody waits.
func (p *pool) giveOn() {
	if p.closed.Load() {
		below(p.upstream).FreeHeld() // no later call would
		defer p.closeDeviceLate()
	}
	p.fit()
	p.wakeAll()
}

// quarantine gives up a block that has lost its slot: it was forgotten while a slice of it may be in use, so it must
// never be handed out again.
func (p *pool) quarantine(a handle.Allocation) {
	defer p.freed()
	if p.giveUp(a.Block, a.Extent) {
		p.leaks.TookOver(a.Block.Len)
	}
}
