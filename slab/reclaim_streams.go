package slab

import "github.com/bufslab/bufslab/slab/internal/pending"

// How blocks that wait for streams come back. They are taken out of their queues under
// reclaimMu only, so that a Get which finds no room can tell that none is on its way.

// sweep gives back what has waited long enough. While another goroutine gives back it
// leaves that to the next call.
func (p *pool) sweep() {
	if p.pending.Len() > 0 && p.reclaimMu.TryLock() {
		defer p.reclaimMu.Unlock()
		p.sweepLocked()
	}
}

// sweepLocked is sweep under reclaimMu. It reports whether there was anything.
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

// freeOldest waits for the block that has waited longest, and gives it back. It
// reports false when there is none.
func (p *pool) freeOldest() bool {
	if p.pending.Len() == 0 {
		return false
	}
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	return p.freeOldestLocked()
}

func (p *pool) freeOldestLocked() bool {
	b := p.pending.TakeOldest(func(*pending.Block) bool { return true })
	if b == nil {
		return false
	}
	b.Sync()
	p.freePending(b)
	return true
}
