package growpool

import (
	"runtime"
	"weak"

	"github.com/bufslab/bufslab/slab"
)

// What a pool holds are the buffers of keys that no lease has.

// Clear takes every buffer from its key; the next Get of each is a miss. What only leases
// have shown goes back to the slab.Pool, and what that holds goes to its upstream, now;
// what Get has shown is left to the collector. Statistics stay: see [Pool.ClearStats].
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

// FreeHeld is [Pool.Clear] by the name that it has everywhere else.
func (p *Pool[K]) FreeHeld() { p.Clear() }

// StopHolding is Clear, and from now on no key keeps a buffer: every View of Get and
// every lease has one of its own, and a lease's goes through the slab.Pool to its
// upstream with Release. There is no way back.
func (p *Pool[K]) StopHolding() {
	p.must()
	p.stopped.Store(true)
	p.Clear()
}

// A reclaimer is what a slab.Pool knows of a Pool that holds buffers of it. It does not
// keep the Pool alive.
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

// reclaim releases the buffers that are not in use and that only leases have shown. Those
// that Get has shown would not come back by that, so their keys keep them. A slab.Pool
// without room calls it, perhaps in a Get under the lock of an entry, of this or another
// Pool: so an entry that is locked is passed over.
func (p *Pool[K]) reclaim() {
	for e := range p.table.all() {
		if e.mu.TryLock() {
			p.reclaimKey(e)
		}
	}
}

// reclaimKey is reclaim of a key whose lock the caller has taken. It gives that back.
func (p *Pool[K]) reclaimKey(e *entry[K]) {
	defer p.unlockQuietly(e)
	if b := e.cur.Load(); b != nil && !e.turn.taken && b.now() == lifeOf(kept, 1) {
		p.expel(e)
		p.clear(e)
	}
}
