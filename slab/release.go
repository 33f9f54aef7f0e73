package slab

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pending"
)

// A Release that the processor's caches do not take goes down from here.

// recycleMarked is recycle of a slot whose generation End did not end: it may be sampled, or
// stray.
func (p *pool) recycleMarked(e handle.Entry, n int) {
	p.profile.Released(e.Slot)
	if e.Slot.TakeStray() {
		p.leaks.Released(e.Slot)
		p.isolate(e, n)
		return
	}
	p.recycle(e, n)
}

// recycle puts the block of a released buffer of n bytes into a cache, a queue, or the
// strategy. A part has none: see part.go.
func (p *pool) recycle(e handle.Entry, n int) {
	if e.Slot.IsPart() {
		p.endPart(e.Slot)
		return
	}
	if p.leaks.SeesAll() {
		p.leaks.Released(e.Slot)
	}
	if e.Slot.Streamed() {
		p.countRelease(n)
		p.await(e, false, p.pending.EndUse(e.Slot))
		return
	}
	if p.check == nil && e.Slot.Extent() != guard.Extent { // they write to what was released
		handle.GivenUp(e, n)
	}
	if !p.held.exceeded(p.strategy) && p.cache.Keep(e, n) {
		p.held.note()
	} else {
		p.mu.Lock()
		p.cache.CountRelease(n)
		p.cache.Refused(e.Slot.Class(), 1)
		p.freeLocked(e)
	}
	p.keepWithinHeld()
}

// countRelease counts a Release of n bytes whose block does not go to the strategy now.
func (p *pool) countRelease(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.CountRelease(n)
}

// free returns a block to the strategy.
func (p *pool) free(e handle.Entry) {
	p.mu.Lock()
	p.freeLocked(e)
}

// freeLocked is free for who holds mu; it gives that back.
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
	runtime.KeepAlive(e.Mem) // until now, so that the region was not found dead
}

// freeing runs f, which may call Check or go upstream. If that panics the block is free as well.
func (p *pool) freeing(f func()) {
	defer p.freed()
	f()
}

// freed is for what the pool has just given to its strategy.
func (p *pool) freed() {
	if p.closed.Load() || p.waits.hurried.Load() > 0 {
		p.giveOn()
	}
}

// giveOn is freed where the pool is closed or somebody waits.
func (p *pool) giveOn() {
	if p.closed.Load() {
		below(p.upstream).FreeHeld() // no later call would
	}
	p.wakeAll()
}

// await lets a block wait for its streams.
func (p *pool) await(e handle.Entry, escaped bool, on []device.Stream) {
	p.awaitBlock(pending.NewBlock(e, escaped, on))
	p.sweep()
}

// awaitBlock lets b wait in its queue. Where the pool holds nothing any more it waits
// here and now: no later call will look after b.
func (p *pool) awaitBlock(b *pending.Block) {
	if !p.pending.Add(b) {
		b.Sync()
		p.freePending(b)
	} else if p.waits.hurried.Load() > 0 {
		p.waitForStreams()
	}
}

// freePending gives a block back whose uses are over.
func (p *pool) freePending(b *pending.Block) {
	if b.Escaped {
		p.mu.Lock()
		block, extent := p.table.Detach(b.Slot)
		p.mu.Unlock()
		p.quarantine(handle.Allocation{Block: block, Extent: extent})
		return
	}
	if p.check != nil {
		p.check.setLate(b.Slot.Block(b.Slot.Len()), p.leaks.How(b.Slot.ID()))
	}
	p.free(b.Entry)
}
