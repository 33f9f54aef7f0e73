package slab

// What a pool does with memory that is not in use: it gives it back when asked, when
// it has been idle, and at the end.

// FreeHeld gives upstream all memory that is kept for reuse and can be given. What
// waits for a stream cannot, and FreeHeld does not wait for it. If the upstream is a
// [Holder], a strategy that the pool was opened on, it gives back, too; so it does for
// Trim, StopHolding and Close, which leaves it holding for others.
func (p *Pool) FreeHeld() { p.opened().freeHeld() }

// StopHolding is FreeHeld, and from now on released memory goes upstream as soon as
// nothing of its region is active. It waits for streams that use what has been
// released, and so does Release from now on. There is no way back.
func (p *Pool) StopHolding() {
	q := p.opened()
	q.stopHolding(below(q.upstream).StopHolding)
}

// Trim ends an epoch and gives upstream what has been held, untouched, for the last
// idle epochs. Trim(0), and Trim of less, is FreeHeld. A cached block goes to the
// strategy when it was untouched for an epoch, and its epochs begin to count then; so do
// those of a block that has waited for a stream. Trim returns the bytes that went upstream.
// Config.TrimAfter calls it by the clock.
//
// Beside a load that goes on, what it needs stays. Of the blocks of one size that a processor
// has cached, some are not reached in an epoch: half of these go, at least. Of memory that grows
// in a range, as bestfit and slab have it on mmap and virtual, all goes that is more than was in
// use at a time, every idle epochs. Other regions that are used in part stay whole.
func (p *Pool) Trim(idle int) int64 { return p.opened().trimHeld(max(idle, 0)) }

// FreeHeld makes the pool a [Reclaimer]. The caller has no room, so this waits for
// streams, and asks those who keep buffers of the pool.
func (p *pool) FreeHeld() {
	p.reclaimers.Reclaim(nil)
	for p.freeOldest() {
	}
	p.freeHeld()
}

// GiveNow is FreeHeld without a wait for streams.
func (p *pool) GiveNow() {
	p.reclaimers.Reclaim(nil)
	p.freeHeld()
}

func (p *pool) freeHeld() {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	p.sweepLocked()
	p.emptyCachesLocked(false)
	p.guard.FreeHeld()
	forwardTo(p.strategy).FreeHeld()
	below(p.upstream).FreeHeld()
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

func (p *pool) trimHeld(idle int) int64 {
	n := p.trim(idle)
	p.counted.trims.Add(1)
	p.counted.trimmed.Add(n)
	p.config.Hooks.trimmed(p.config.Name, n)
	return n
}

func (p *pool) trim(idle int) int64 {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	before := p.stats().ManagedBytes // emptying the caches sends memory upstream, too
	p.sweepLocked()
	p.emptyCachesLocked(idle > 0)
	if idle == 0 {
		p.guard.FreeHeld()
	}
	forwardTo(p.strategy).Trim(idle)
	below(p.upstream).Trim(idle)
	return max(0, before-p.stats().ManagedBytes)
}

// emptyCaches gives the caches back to the strategy, and what streams are done with.
// It reports whether there was anything.
func (p *pool) emptyCaches() bool {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	swept := p.sweepLocked()
	return p.emptyCachesLocked(false) || swept
}

// emptyCachesLocked empties the caches, or only what was not used since it was called
// last. It reports whether there was anything.
func (p *pool) emptyCachesLocked(idle bool) (any bool) {
	any = p.cache.Reclaim(idle)
	if idle && any && p.held.exceeded(p.strategy) {
		p.cache.Reclaim(false) // the rest may keep the slabs of these
	}
	return any
}

// keepWithinHeld empties the caches if they keep the strategy from its bound. It is inlined, as
// few pools have one.
func (p *pool) keepWithinHeld() {
	if p.held.bytes > 0 {
		p.keepWithinBound()
	}
}

func (p *pool) keepWithinBound() {
	if p.held.exceeded(p.strategy) && p.held.cached.Swap(false) {
		p.emptyCaches()
	}
}
