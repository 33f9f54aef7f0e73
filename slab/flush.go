package slab

// How a pool on the Go heap finds forgotten buffers that cached blocks keep alive: they share a region with them.
// slab/internal/floor, lookout.go, says when it is time.

// lookWithoutCaches hears of a collection. If it is time it empties the caches and collects.
func (p *pool) lookWithoutCaches() {
	if p.cache.Uncached() == 0 || !p.isCollected() {
		return
	}
	if old, due := p.isLookDue(p.activeBytes()); due {
		p.lookNow(old)
	}
}

// lookNow empties the caches, and lets them keep nothing until a collection has marked what is reachable. If another
// goroutine empties the caches just now, the next collection decides anew.
func (p *pool) lookNow(old int64) {
	if !p.reclaimMu.TryLock() {
		return
	}
	before := p.leaks.ForgottenBytes()
	p.cache.Stop()
	func() {
		defer p.reclaimMu.Unlock()
		p.emptyCachesLocked(false)
	}()
	p.gc.Look(p.cache.Start)
	p.lookout.Looked(old, p.leaks.ForgottenBytes()-before)
}
