package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pending"
)

// How blocks that wait for streams come back. They leave their queues under reclaimMu
// only, so that a Get without room can tell that no block is on its way.

// await lets a block wait for its streams.
func (p *pool) await(e handle.Entry, escaped bool, on []device.Stream) {
	p.awaitBlock(pending.NewBlock(e, escaped, on))
	p.sweep()
}

// awaitBlock lets b wait in its queue. After StopHolding awaitBlock itself waits for the
// streams: no later call will look after b.
func (p *pool) awaitBlock(b *pending.Block) {
	if !p.pending.Add(b) {
		b.Sync()
		p.freePending(b)
		return
	}
	p.changed()
	if p.waits.hurried.Load() > 0 {
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
		p.check.SetLate(b.Slot.Block(b.Slot.Len()), p.leaks.How(b.Slot.ID()))
	}
	p.free(b.Entry)
}

// sweep gives back blocks whose streams are done. If another goroutine gives back now,
// sweep leaves them to the next call.
func (p *pool) sweep() {
	if p.pending.Len() > 0 {
		p.sweepNow()
	}
}

func (p *pool) sweepNow() {
	if p.reclaimMu.TryLock() {
		defer p.reclaimMu.Unlock()
		p.sweepLocked()
	}
}

// sweepLocked is sweep under reclaimMu. It reports whether there was such a block.
func (p *pool) sweepLocked() (any bool) {
	for p.pending.Len() > 0 {
		b := p.pending.TakeDone()
		if b == nil {
			break
		}
		p.freePending(b)
		any = true
	}
	return any
}

// freeOldest waits for the block that has waited longest, and gives it back, unless
// another goroutine was faster. It reports false when no block waits. It waits without
// reclaimMu: others need not wait for the stream.
func (p *pool) freeOldest() bool {
	b, sync := p.pending.Oldest()
	if b == nil {
		return false
	}
	sync()
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	if p.pending.TakeOldest(func(x *pending.Block) bool { return x == b }) != nil {
		p.freePending(b)
	}
	return true
}

// freeOldestLocked is freeOldest under reclaimMu, for a pool after StopHolding.
func (p *pool) freeOldestLocked() bool {
	b := p.pending.TakeOldest(func(*pending.Block) bool { return true })
	if b == nil {
		return false
	}
	b.Sync()
	p.freePending(b)
	return true
}

// waitForStreams waits for streams, on a goroutine, as long as calls wait for memory: a call with a
// context must not wait for a stream that does not end.
func (p *pool) waitForStreams() {
	if p.pending.Len() == 0 || p.waits.streams.Swap(true) {
		return
	}
	go func() {
		for p.waits.hurried.Load() > 0 && p.freeOldest() {
		}
		p.waits.streams.Store(false)
		if p.waits.hurried.Load() > 0 {
			p.waitForStreams() // blocks that came since the last look have seen a goroutine at work
		}
	}()
}
