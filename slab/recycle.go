package slab

import "runtime"

// recycle puts the block of a released buffer into a cache, or back.
func (k *core) recycle(b PooledBuffer) {
	if k.sites != nil {
		k.gave(b)
	}
	b.own.conceal()
	e := entry{b.own, b.ptr, b.gen + nextGen}
	if b.own.used {
		k.cache.countPut(b.n)
		k.await(e, k.streams.take(b.own), false)
		return
	}
	k.recycleSlowly(int(b.own.class), e, b.n)
}

func (k *core) recycleSlowly(class int, e entry, size int) {
	var out *batch
	kept := false
	if !k.overHeld() {
		out, kept = k.cache.overflow(class, e, size, k.cacheBudget())
	}
	if kept {
		k.cache.fill()
	} else {
		k.cache.countPut(size)
		k.giveBack(e)
	}
	k.putAway(out)
	k.keepBound()
}

// cacheBudget returns the bytes that a processor may cache now; depotBudget
// those that may wait in the depot. Where caches are to stay small they grow
// with what is managed, from a least that costs no memory to speak of on the recorded
// traces: without it a pool that has only a few blocks out would not cache at all.
func (k *core) cacheBudget() int64 {
	c := &k.cache
	if c.share == 0 {
		return c.bytes
	}
	part := k.ledger.managed.Load() / c.share / int64(len(c.shards)+1)
	return min(c.bytes, max(part, leastCache))
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

// putAway gives linked batches to the depot, or their blocks to the strategy.
func (k *core) putAway(b *batch) {
	for b != nil {
		next := b.next
		if d := &k.cache.depot; !d.put(b, k.cache.sizeOf(int(b.class)), k.depotBudget()) {
			for _, e := range b.entries[:b.n] {
				k.giveBack(e)
			}
			clear(b.entries[:b.n]) // or a token would never be lost
			d.recycle(int(b.class), b)
		}
		b = next
	}
}
