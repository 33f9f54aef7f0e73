package slab

import "github.com/bufslab/bufslab/internal/gcwatch"

// How a pool on the Go heap finds forgotten buffers that cached blocks keep alive: they share a region with them.
// slab/internal/floor, lookout.go, says when it is time.

// oldShare of the Go heap, as a divisor, is what has been out for long where a collection is worth it.
const oldShare = 32

// lookWithoutCaches hears of a collection. If it is time it empties the caches and collects.
func (p *pool) lookWithoutCaches() {
	if p.cache.Uncached() == 0 || !p.isCollected() {
		return
	}
	if old, due := p.lookout.Collected(p.activeBytes()); due && old > gcwatch.Live()/oldShare {
		p.lookNow(old)
	}
}

// isCollected reports whether the collector owns the pool's memory.
func (p *pool) isCollected() bool { return onHeap(p.config.Config) && p.accounting.OwnsRegions() }

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
