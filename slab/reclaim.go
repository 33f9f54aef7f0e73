package slab

// A pool gives held memory back when asked, when it has been idle, and at the end.

// FreeHeld gives held memory upstream, as far as it can go. Blocks that wait for a stream
// cannot go, and FreeHeld does not wait for them. If the pool was opened on a strategy, its
// upstream is a [Holder], which gives back, too. So it does at Trim, StopHolding and Close;
// after these it may hold memory again, for others.
func (p *Pool) FreeHeld() { p.opened().freeHeld() }

// StopHolding is FreeHeld, and from now on released memory goes upstream as soon as no
// block of its region is active. It waits for streams that use released memory, and so does
// Release from now on. There is no way back.
func (p *Pool) StopHolding() {
	q := p.opened()
	q.stopHolding(below(q.upstream).StopHolding)
}

// Trim ends an epoch and gives upstream memory that was held, untouched, for the last
// idle epochs. Trim(0), and Trim of less, is FreeHeld. A cached block goes to the
// strategy when it was untouched for an epoch; its idle epochs count from then on. For a
// block that waited for a stream they count from the end of the wait. Trim returns the bytes
// that went upstream. The pool's clock calls it: see Config.TrimAfter.
//
// Memory that a steady load needs stays. Of the blocks of one size that a processor has
// cached, some are not reached in an epoch: at least half of these go. From ranges, which
// bestfit and slab have on mmap and virtual, memory beyond the peak of use goes, every idle
// epochs. Other regions that are used in part stay whole.
func (p *Pool) Trim(idle int) int64 { return p.opened().trimHeld(max(idle, 0)) }

// FreeHeld makes the pool a [Reclaimer]. The caller has no room, so FreeHeld waits for
// streams, and asks keepers of buffers of the pool.
func (p *pool) FreeHeld() {
	p.reclaimers.Reclaim()
	for p.freeOldest() {
	}
	p.freeHeld()
}

// GiveNow is FreeHeld without a wait for streams.
func (p *pool) GiveNow() {
	p.reclaimers.Reclaim()
	p.freeHeld()
}

func (p *pool) freeHeld() {
	defer p.fit()
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	p.sweepLocked()
	p.emptyCachesLocked(false)
	p.giveBack()
}

// stopHolding calls below at its end, for the upstream.
func (p *pool) stopHolding(below func()) {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	p.cache.Stop()
	p.pending.Stop()
	p.table.Stop()
	p.guard.Stop()
	for p.freeOldestLocked() {
	}
	p.emptyCachesLocked(false)
	forwardTo(p.strategy).StopHolding()
	below()
}

func (p *pool) trimHeld(idle int) int64 { return p.trimmed(p.trim(idle)) }

func (p *pool) trim(idle int) int64 {
	defer p.fit()
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	return p.trimLocked(idle)
}

func (p *pool) trimLocked(idle int) int64 {
	before := p.stats().ManagedBytes // emptying the caches sends memory upstream, too
	p.sweepLocked()
	p.emptyCachesLocked(idle > 0)
	p.giveBackIdle(idle)
	return max(0, before-p.stats().ManagedBytes)
}

// emptyCaches gives the strategy the blocks of the caches, and blocks that streams are done
// with. It reports whether there were any.
func (p *pool) emptyCaches() bool {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	swept := p.sweepLocked()
	return p.emptyCachesLocked(false) || swept
}

// emptyCachesLocked empties the caches; if idle, only of blocks that were not used since its
// last call. It reports whether there were any.
func (p *pool) emptyCachesLocked(idle bool) (any bool) {
	any = p.cache.Reclaim(idle)
	if idle && any && p.holdsTooMuch() {
		p.cache.Reclaim(false) // the rest may keep the slabs of these
	}
	return any
}

// keepWithinHeld empties the caches if they keep the strategy above its bound. It is inlined, as
// few pools have a bound.
func (p *pool) keepWithinHeld() {
	if p.held.bytes > 0 {
		p.keepWithinBound()
	}
}

func (p *pool) keepWithinBound() {
	if p.holdsTooMuch() && p.held.cached.Swap(false) {
		p.emptyCaches()
	}
}
