package slab

import (
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/gcwatch"
)

// A gcEpoch is what a pool remembers from one collection to the next.
type gcEpoch struct {
	mu      sync.Mutex   // held while an epoch ends, before reclaimMu
	traffic int64        // Gets and Releases up to the last collection
	idle    int          // collections since without any
	ended   atomic.Int64 // epochs
}

// idleCollections is how many collections without a Get or Release make a pool idle,
// and for how many memory of the Go heap is held untouched: what sync.Pool gives its
// contents.
const idleCollections = 2

// watchCollections ends an epoch after every collection, until the pool is closed.
func watchCollections(p *pool) {
	gcwatch.Notify(p, func(p *pool) bool {
		if p.closed.Load() {
			return false
		}
		go p.endEpoch() // it may go upstream, and others wait for this goroutine
		return true
	})
}

// endEpoch gives back what was not needed for a while. A pool that is not in use gives
// back all that it holds. With sizeclass on the Go heap, where memory that is held makes
// collections rarer, one in use gives back what it has not touched.
func (p *pool) endEpoch() {
	e := &p.epoch
	e.mu.Lock() // of two at a time one might not count
	defer e.mu.Unlock()
	defer e.ended.Add(1)
	p.gc.collected()
	p.sweep()
	u := p.cache.Usage()
	traffic := u.Gets + u.Releases
	if traffic == e.traffic {
		if e.idle++; e.idle == idleCollections {
			p.trimHeld(0)
		}
		return
	}
	e.traffic, e.idle = traffic, 0
	if p.config.Strategy == "sizeclass" && onHeap(p.config.Config) {
		p.trimHeld(idleCollections)
	}
}
