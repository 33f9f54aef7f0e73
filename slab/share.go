package slab

// A Reclaimer can give held memory back. A [Pool] shares its budget as one: a Get that has no room asks
// the others that draw on the same memory to give back what they hold, the pools on one device, the pools
// on one Limit, and whatever keeps buffers of a pool for reuse.
type Reclaimer interface{ FreeHeld() }

// AddReclaimer says that r keeps buffers of the pool, active ones, for reuse. Its FreeHeld
// releases them. The pool calls it, without a lock, in a Get that has no room, and for
// others that share its Limit or its device; r must not wait there for a lock that is
// held around a Get. The pool keeps r alive until RemoveReclaimer.
func (p *Pool) AddReclaimer(r Reclaimer) { p.opened().reclaimers.Add(r) }

// RemoveReclaimer undoes AddReclaimer.
func (p *Pool) RemoveReclaimer(r Reclaimer) { p.opened().reclaimers.Remove(r) }

// Offer is for code that keeps buffers of the pool: one that was in use is not any more, and
// FreeHeld would release it. Calls that wait for memory have it asked for then.
func (p *Pool) Offer() { p.opened().wake() }
