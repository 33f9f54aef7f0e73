package slab

import "runtime"

// recycle puts the block of a released buffer into a cache, or back.
func (k *core) recycle(b PooledBuffer) {
	if k.sites != nil {
		k.gave(b)
	}
	if b.own.token && b.own.escaped.Load() {
		b.own.escaped.Store(false)
	}
	k.recycleSlowly(int(b.own.class), entry{b.own, b.ptr, b.gen + nextGen}, b.n)
}

func (k *core) recycleSlowly(class int, e entry, size int) {
	spill, kept := k.cache.overflow(class, e, size, k.cacheBudget(), k.depotBudget())
	if !kept {
		k.cache.countPut(size)
		k.giveBack(e)
	}
	k.giveBackAll(spill)
}

// cacheBudget returns the bytes that a processor may cache now; depotBudget those
// that may wait in the depot.
func (k *core) cacheBudget() int64 {
	if k.cache.share == 0 {
		return k.cache.bytes
	}
	return min(k.cache.bytes, k.ledger.managed.Load()/k.cache.share/int64(len(k.cache.shards)+1))
}

func (k *core) depotBudget() int64 {
	if k.cache.share == 0 {
		return k.cache.waiting
	}
	return min(k.cache.waiting, k.cacheBudget())
}

// giveBack returns the block of an entry to the strategy.
func (k *core) giveBack(e entry) {
	blk := k.dismiss(e.s)
	k.strategy.Free(blk)
	runtime.KeepAlive(e.p) // until now, so that the region was not lost
}

func (k *core) giveBackAll(b *batch) {
	if b == nil {
		return
	}
	for _, e := range b.entries[:b.n] {
		k.giveBack(e)
	}
}
