package slab

import (
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// The rest of a Release that the processor's caches do not take.

// recycleMarked is recycle of a slot whose generation End did not end: the slot may be sampled,
// or stray.
func (p *pool) recycleMarked(e handle.Entry, n int) {
	p.profile.Released(e.Slot)
	if e.Slot.TakeStray() {
		p.leaks.Freed(p.leaks.Released(e.Slot))
		p.isolate(e, n)
		return
	}
	p.recycle(e, n)
}

// recycle puts the block of a released buffer of n bytes into a cache, a queue, or the
// strategy. A part has no block: see part.go.
func (p *pool) recycle(e handle.Entry, n int) {
	if e.Slot.IsPart() {
		p.endPart(e.Slot)
		return
	}
	if p.leaks.SeesAll() {
		p.recycleSeen(e, n)
		return
	}
	p.putBack(e, n)
}

// recycleSeen is recycle for a log that sees all. A recording notes the free after the memory can be had again.
// If the free came first, a replay could hand out memory that was still active when it was recorded.
func (p *pool) recycleSeen(e handle.Entry, n int) {
	defer p.leaks.Freed(p.leaks.Released(e.Slot))
	p.putBack(e, n)
}

// putBack is the part of recycle that moves the block.
func (p *pool) putBack(e handle.Entry, n int) {
	if p.check != nil {
		p.lookUnderWay(e.Slot)
	}
	if e.Slot.Streamed() {
		p.countRelease(n)
		p.await(e, false, p.pending.EndUse(e.Slot))
		return
	}
	if p.check == nil && e.Slot.Extent() != guard.Extent { // they write to what was released
		handle.GivenUp(e, n)
	}
	if !p.holdsTooMuch() && p.cache.Keep(e, n) {
		p.held.note()
		p.changed() // a magazine may have left for the block
	} else {
		p.mu.Lock()
		p.cache.CountRelease(n)
		p.cache.Refused(e.Slot.Class(), 1)
		p.freeLocked(e)
	}
	p.keepWithinHeld()
}

// endPart ends a part that was released and that no call uses. If it was the last handle the
// block is recycled.
func (p *pool) endPart(part *handle.Slot) {
	p.leaks.PartEnded(part.Root(), part)
	if e, last := part.EndPart(); last {
		p.recycleMarked(e, e.Slot.Asked())
	}
}

// isolate puts a released block into quarantine, because a slice of a forgotten part may be in
// use.
func (p *pool) isolate(e handle.Entry, n int) {
	p.countRelease(n)
	p.leaks.Isolated(e.Slot.Len())
	p.await(e, true, p.pending.EndUse(e.Slot))
}
