package percpu

import "github.com/bufslab/bufslab/slab/internal/handle"

// A full class cache grows, or gives a magazine to the depot. It begins with one
// block and doubles, so that a class which is hardly used takes little of the
// budget.

// Keep keeps a released block that its class cache has not taken, and makes room for it. The
// Release of a simple one has tried that before. Keep reports false if the block has to go
// back to the strategy, as one does that no class is for.
func (c *Cache) Keep(e handle.Entry, size int) (kept bool) {
	return e.Slot.Class() < c.classes && c.keep(e, size)
}

func (c *Cache) keep(e handle.Entry, size int) (kept bool) {
	if !e.Slot.Simple() && c.push(e, size) {
		return true
	}
	if c.depot.stopped() {
		return false
	}
	out, kept := c.pushSlow(e.Slot.Class(), e, size)
	c.putAway(out)
	return kept
}

// push is ClassCache.Push on the processor that it runs on.
func (c *Cache) push(e handle.Entry, size int) (kept bool) {
	on := c.Pin()
	kept = c.At(on.ID(), e.Slot.Class()).Push(e, size)
	c.Unpin(on)
	return kept
}

// pushSlow returns the linked magazines that left to make room.
func (c *Cache) pushSlow(class int, e handle.Entry, size int) (out *magazine, kept bool) {
	b := c.budget(c.options.Bytes)
	var empty *magazine // pinned code must not allocate one
	for {
		on := c.Pin()
		p := c.cpu(on.ID())
		ready := p == nil || p.empty != nil || empty != nil
		if p != nil && ready {
			if p.empty == nil {
				p.empty = empty
			}
			out = c.makeRoom(p, class, b)
			kept = p.caches[class].Push(e, size)
			c.check(p)
		}
		p.leave()
		c.Unpin(on)
		if ready {
			return out, kept
		}
		empty = c.depot.emptyMagazine(class)
	}
}

// makeRoom lets the loaded magazine of the class have one more block than it has,
// if that is within the budget, and returns the magazines that leave for it. The caller is
// pinned, and p has an empty magazine.
func (c *Cache) makeRoom(p *cpu, class int, b budget) (out *magazine) {
	k := &p.caches[class]
	limit, bytes := k.limit.Load(), c.BlockBytes(class)
	if limit < 0 || k.n() < limit {
		return nil
	}
	if k.loaded == nil {
		k.loaded, p.empty = p.empty, nil
	}
	if !k.isArmed() {
		c.arm(p, class)
	}
	if limit < most(bytes) {
		if c.grow(p, class, limit, b) {
			return nil
		}
		return c.overBudget(p, class, limit, b)
	}
	if out = c.exchange(p, class, b); k.n() == limit {
		return c.letGo(p, b)
	}
	return out
}

// overBudget is makeRoom of a class that the budget refuses more. Where the budget is full, a class
// that has earned a block empties another one for that.
func (c *Cache) overBudget(p *cpu, class int, limit int32, b budget) (out *magazine) {
	if p.granted+c.BlockBytes(class) <= b.most || c.wants.earned[class].Load() <= limit {
		return c.letGo(p, b)
	}
	out = c.shrinkOther(p, class)
	c.grant(p, class, limit, limit+1, b)
	return out
}

// grow doubles the limit of a class cache, or adds one block where the budget has no
// more.
func (c *Cache) grow(p *cpu, class int, limit int32, b budget) bool {
	bytes := c.BlockBytes(class)
	if to := max(1, min(2*limit, most(bytes))); p.granted+int64(to-limit)*bytes <= b.share {
		return c.grant(p, class, limit, to, b)
	}
	return c.grant(p, class, limit, limit+1, b)
}

// grant changes the limit of a class cache, if the budget allows it. The caller is
// pinned and has found the limit not negative.
func (c *Cache) grant(p *cpu, class int, limit, to int32, b budget) bool {
	more := int64(to-limit) * c.BlockBytes(class)
	if k := &p.caches[class]; !c.allows(b, p.granted+more, class, to+k.nprevious) || !k.limit.CompareAndSwap(limit, to) { // or it was closed
		return false
	}
	p.granted += more
	return true
}

// exchange makes the loaded magazine the previous one, or gives it or the previous one to the
// depot, and makes an empty one the loaded one. It returns the magazine that leaves. Where there is
// no place for either it does nothing.
func (c *Cache) exchange(p *cpu, class int, b budget) (out *magazine) {
	k, bytes := &p.caches[class], c.BlockBytes(class)
	n, below := k.n(), k.nprevious
	if more := int64(n-below) * bytes; more == 0 || c.allows(b, p.granted+more, class, k.limit.Load()+n) {
		if below > 0 && !c.depotTakes(class, below) {
			return nil
		}
		p.granted += more
		k.nprevious = n
		out, k.previous, k.loaded = k.previous, k.loaded, p.empty
		n = below
	} else if !c.depotTakes(class, n) {
		return nil
	} else {
		out, k.loaded = k.loaded, p.empty
	}
	p.empty = nil
	k.setN(0)
	if n == 0 {
		p.empty = out
		return nil
	}
	out.n, out.class = n, int32(class)
	k.moved -= int64(n)
	return out
}

// shrinkOther takes all blocks from the cache of another class, of each in turn, so
// that classes which are no longer used do not starve the others. The caller is
// pinned.
func (c *Cache) shrinkOther(p *cpu, but int) (out *magazine) {
	for range p.caches {
		if p.victim++; p.victim >= len(p.caches) {
			p.victim = 0
		}
		k := &p.caches[p.victim]
		limit := k.limit.Load()
		if p.victim == but || limit <= 0 || !k.limit.CompareAndSwap(limit, 0) {
			continue
		}
		return c.detach(p, p.victim, limit, nil)
	}
	return nil
}

// detach takes both magazines from a class cache whose limit was as given, and is
// changed already. It links those that have blocks to out, the loaded one first: so its blocks,
// the last used, go back first. Another order packs the recordings otherwise.
func (c *Cache) detach(p *cpu, class int, limit int32, out *magazine) *magazine {
	k := &p.caches[class]
	p.granted -= int64(limit+k.nprevious) * c.BlockBytes(class)
	k.previous = k.unload(k.previous, class, k.nprevious, &out)
	k.loaded = k.unload(k.loaded, class, k.n(), &out)
	k.setN(0)
	k.nprevious = 0
	return out
}

// unload links a magazine of n blocks to out. It returns the magazine if it is empty.
func (k *ClassCache) unload(m *magazine, class int, n int32, out **magazine) (empty *magazine) {
	if n == 0 {
		return m
	}
	m.n, m.class, m.next = n, int32(class), *out
	*out = m
	k.moved -= int64(n)
	return nil
}

// putAway gives linked magazines to the depot, or their blocks to the strategy.
func (c *Cache) putAway(m *magazine) {
	defer func() { c.depot.restore(m, c.BlockBytes) }() // what is left if the strategy panics
	for m != nil {
		next := m.next
		if m.n == 0 || !c.depotTakes(int(m.class), m.n) || !c.depot.put(m, c.BlockBytes(int(m.class)), c.options.Depot) {
			c.refusedAll(m)
			c.free(m)
			c.depot.recycle(m)
		}
		m = next
	}
}

// depotTakes reports whether the depot may have one more magazine, of n blocks.
func (c *Cache) depotTakes(class int, n int32) bool {
	have := c.depot.classes[class].have.Load()*magazineSlots + n
	bytes := c.depot.bytes.Load() + int64(n)*c.BlockBytes(class)
	return c.allows(c.budget(c.options.Depot), bytes, class, have)
}

// refusedAll notes the blocks of a magazine that no cache takes.
func (c *Cache) refusedAll(m *magazine) {
	if m.n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Refused(int(m.class), m.n)
	}
}

// free gives the blocks of a magazine to the strategy. If that panics, the others are in
// the magazine still.
func (c *Cache) free(m *magazine) {
	i := int32(0)
	defer func() {
		n := copy(m.entries[:], m.entries[i:m.n])
		clear(m.entries[n:m.n])
		m.n = int32(n)
	}()
	for i < m.n {
		e := m.entries[i]
		m.entries[i] = handle.Entry{} // or the collector would never find it forgotten
		i++
		c.options.Free(e)
	}
}
