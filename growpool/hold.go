package growpool

import (
	"runtime"
	"weak"

	"github.com/bufslab/bufslab/slab"
)

// A pool holds the buffers of keys that no lease has.

// Clear takes every buffer from its key; the next Get of each key is a miss. Buffers that only
// leases have shown go back to the slab.Pool, whose held memory goes to its upstream, now. Buffers
// that Get has shown are left to the collector. Statistics stay: see [Pool.ClearStats].
// Views stay memory-safe on the Go heap, and leases last until they are released.
func (p *Pool[K]) Clear() {
	p.must()
	defer p.slab.FreeHeld()
	defer p.clearKeys()
	if p.policy != nil {
		p.evictAll(p.policy.clear())
	}
}

// clearKeys clears every key, also if the Release of a buffer panics.
func (p *Pool[K]) clearKeys() {
	done := false
	defer func() {
		if !done {
			p.clearKeys()
		}
	}()
	for e := range p.table.all() {
		p.clearKey(e)
	}
	done = true
}

func (p *Pool[K]) clearKey(e *entry[K]) {
	e.mu.Lock()
	defer p.unlock(e)
	p.clear(e)
}

// FreeHeld is [Pool.Clear], by the name of other packages.
func (p *Pool[K]) FreeHeld() { p.Clear() }

// StopHolding is Clear, and from now on no key keeps a buffer: every View of Get and
// every lease has a buffer of its own. At Release the lease's buffer goes through the
// slab.Pool to its upstream. There is no way back.
func (p *Pool[K]) StopHolding() {
	p.must()
	p.stopped.Store(true)
	p.Clear()
}

// A reclaimer is registered at the slab.Pool whose buffers a Pool holds. It does not keep
// the Pool alive.
type reclaimer[K comparable] struct{ pool weak.Pointer[Pool[K]] }

// FreeHeld makes it a [slab.Reclaimer].
func (r reclaimer[K]) FreeHeld() {
	if p := r.pool.Value(); p != nil {
		p.reclaim()
	}
}

// share tells the slab.Pool that p holds buffers of it, until Close or the collector
// ends p.
func (p *Pool[K]) share() {
	r := reclaimer[K]{weak.Make(p)}
	p.slab.AddReclaimer(r)
	runtime.AddCleanup(p, func(below *slab.Pool) { below.RemoveReclaimer(r) }, p.slab)
}

func (p *Pool[K]) unshare() { p.slab.RemoveReclaimer(reclaimer[K]{weak.Make(p)}) }

// reclaim releases buffers that are not in use and that only leases have shown. Buffers that
// Get has shown would not come back at once, so their keys keep them. A slab.Pool without room
// calls reclaim, perhaps in a Get under the lock of an entry, of this or another Pool: so
// reclaim passes over locked entries.
func (p *Pool[K]) reclaim() {
	for e := range p.table.all() {
		if e.mu.TryLock() {
			p.reclaimKey(e)
		}
	}
}

// reclaimKey is reclaim of one key. The caller has taken e.mu; reclaimKey unlocks it.
func (p *Pool[K]) reclaimKey(e *entry[K]) {
	defer p.unlockQuietly(e)
	if b := e.cur.Load(); b != nil && !e.turn.taken && b.now() == lifeOf(kept, 1) {
		p.expel(e)
		p.clear(e)
	}
}
