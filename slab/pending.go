package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pending"
)

// How a pool lets blocks wait for streams, and what becomes of them: forgotten.go has the queue.

// await lets a block wait for its streams.
func (p *pool) await(e handle.Entry, escaped bool, on []device.Stream) {
	b := pending.NewBlock(e, escaped, nil)
	defer p.sweep()
	defer p.awaitBlock(b) // also if a stream panics
	b.Record(on)
}

// awaitBlock lets b wait in its queue. After StopHolding awaitBlock itself waits for the
// streams: no later call will look after b.
func (p *pool) awaitBlock(b *pending.Block) {
	if !p.pending.Add(b) {
		defer p.freePending(b) // also if a stream panics
		b.Sync()
		return
	}
	p.changed()
	if p.isAwaited() {
		p.waitForStreams(p.isAwaited)
	}
}

// freePending gives a block back whose uses are over.
func (p *pool) freePending(b *pending.Block) {
	if b.Escaped {
		block, extent := p.detach(b.Slot)
		p.quarantine(handle.Allocation{Block: block, Extent: extent})
		return
	}
	if p.check != nil {
		p.check.SetLate(b.Slot.Block(b.Slot.Len()), p.leaks.How(b.Slot.ID()))
	}
	p.free(b.Entry)
}
