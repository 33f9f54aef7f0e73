package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A block of the strategy, with a slot: for a Get that no cache serves.

// fresh returns a block of the strategy, for ask bytes, with a slot of the class. It counts
// the Get of size bytes, and returns the number of Gets that it counts for in the profile.
func (p *pool) fresh(ask, class, size int, how effort) (e handle.Entry, stands float64, err error) {
	calls := p.accounting.Allocs()
	for e.Slot == nil {
		p.gc.Relieve()
		b, extent, err := p.alloc(ask, how)
		if err != nil {
			return e, 0, err
		}
		e, stands = p.attach(b, extent, class, size, p.callsAfter(calls))
	}
	return e, stands, nil
}

// atHand is fresh for a strategy with free memory; else it returns no slot. All of it happens under
// mu, so no waiter can overlook the memory.
func (p *pool) atHand(ask, class, size int) (e handle.Entry, stands float64) {
	if p.joint == nil || ask <= 0 || ask > maxAsk {
		return e, 0
	}
	p.gc.Relieve()
	p.mu.Lock()
	if b, extent := p.joint.AllocFree(ask); extent != 0 {
		if e, _ = p.table.Attach(b, extent, class, p.isSimple(class)); e.Slot != nil {
			stands = p.cache.CountGet(size)
			p.cache.Missed(class)
		}
	}
	p.mu.Unlock()
	return e, stands
}

// alloc is the strategy's Alloc with all steps of a pool when there is no room:
// empty the caches, wait for streams, give back held memory here and elsewhere, and look
// for forgotten buffers.
func (p *pool) alloc(size int, how effort) (b device.Block, extent int32, err error) {
	if b, extent, err = p.blocks.AllocExtent(size); outOfMemory(err) {
		return p.makeRoom(size, how, err)
	}
	return b, extent, err
}

// makeRoom is alloc after the strategy has refused with err.
func (p *pool) makeRoom(size int, how effort, err error) (b device.Block, extent int32, _ error) {
	if p.emptyCaches() {
		b, extent, err = p.blocks.AllocExtent(size)
	}
	for how >= fully && outOfMemory(err) && p.freeOldest() {
		b, extent, err = p.blocks.AllocExtent(size)
	}
	for how >= again && outOfMemory(err) {
		b, extent, err = p.reclaimAndAlloc(size, how)
		if !outOfMemory(err) || how < atOnce || !p.gc.Search(p.cache.Gets()) {
			break
		}
	}
	return b, extent, err
}

// reclaimAndAlloc gives back held memory. If that is not enough it asks keepers of buffers of
// the pool to release them, and the pools that share the budget to give back, one after the other.
func (p *pool) reclaimAndAlloc(size int, how effort) (b device.Block, extent int32, err error) {
	p.freeHeld()
	if b, extent, err = p.blocks.AllocExtent(size); !outOfMemory(err) {
		return b, extent, err
	}
	if how >= fully {
		p.FreeHeld()
		for _, of := range budgetsOf(p.upstream) {
			if of.Reclaim(p, func() bool {
				b, extent, err = p.blocks.AllocExtent(size)
				return !outOfMemory(err)
			}) {
				return b, extent, err
			}
		}
	} else {
		for _, b := range p.budgets {
			b.GiveNow()
		}
	}
	return p.blocks.AllocExtent(size)
}
