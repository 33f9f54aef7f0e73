package percpu

import "github.com/bufslab/bufslab/slab/internal/handle"

// A full class cache grows, or gives a magazine to the depot. It begins with one
// block and doubles, so that a class which is hardly used takes little of the
// budget.

// Keep keeps a released block that its class cache has not taken, and makes room for it. (The
// Release of a simple block has tried the class cache before.) Keep reports false if the block
// has to go back to the strategy, as a block without a class does.
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
	b := c.options.budget(c.options.Bytes)
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
			p.check()
		}
		p.leave()
		c.Unpin(on)
		if ready {
			return out, kept
		}
		empty = c.depot.emptyMagazine(class)
	}
}

// makeRoom lets the loaded magazine of the class have one block more, if the budget
// allows it, and returns the magazines that leave for it. The caller is pinned, and p
// has an empty magazine.
func (c *Cache) makeRoom(p *cpu, class int, b budget) (out *magazine) {
	k := &p.caches[class]
	limit := k.limit.Load()
	if limit < 0 || k.n() < limit {
		return nil
	}
	if k.loaded == nil {
		k.loaded, p.empty = p.empty, nil
	}
	if !k.state.isArmed() {
		p.arm(class)
	}
	if limit < most(c.BlockBytes(class)) {
		if p.grow(class, limit, b) {
			return nil
		}
		return p.overBudget(class, limit, b)
	}
	return c.exchange(p, class, b)
}

// overBudget is makeRoom of a class for which the budget has no more. If the budget is full, a class
// that has earned a block empties the class cache of another class.
func (p *cpu) overBudget(class int, limit int32, b budget) (out *magazine) {
	if p.granted+p.options.blockBytes(class) <= b.most || p.wants.earned[class].Load() <= limit {
		return nil
	}
	out = p.shrinkOther(class)
	p.grant(class, limit, limit+1, b)
	return out
}

// exchange loads an empty magazine. The loaded magazine becomes the previous one, or one of the two goes
// to the depot. exchange returns the magazine that leaves. If there is no place for either magazine it
// does nothing.
func (c *Cache) exchange(p *cpu, class int, b budget) (left *magazine) {
	k := &p.caches[class]
	out, n, below := k.loaded, k.n(), k.nprevious
	block := c.BlockBytes(class)
	more, leaves := int64(n-below)*block, n
	keeps := more == 0 || c.wants.allows(b, p.granted+more, block, class, k.limit.Load()+n)
	if keeps {
		leaves = below
	}
	if leaves > 0 && !c.depotTakes(class, leaves) {
		return nil
	}
	p.moving()
	if keeps {
		p.granted += more
		out, k.previous = k.previous, k.loaded
		n, k.nprevious = below, n
	}
	k.loaded = p.empty
	k.setN(0)
	p.empty = k.unlink(out, class, n, &left)
	p.moved()
	return left
}
