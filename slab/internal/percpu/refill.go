package percpu

import "github.com/bufslab/bufslab/slab/internal/handle"

// An empty class cache takes its previous magazine, then a magazine from the depot. Pinned code must
// not lock. So we take the magazine from the depot first, then pin, and look again.

// Retry is for a Get that Enter has refused, or whose Top is too short. The caller is pinned
// to processor id. stands is the number of Gets that this one counts for in a profile, 0 if it is
// not sampled.
func (c *Cache) Retry(id, class, size int) (e handle.Entry, stands float64) {
	p := c.cpu(id)
	if p == nil {
		return e, 0
	}
	q := &p.caches[class]
	p.swap(class)
	if q.enter() {
		if at := q.Top(); at.Slot.Len() >= size {
			if e = q.Take(at, size); q.state.wasDue() {
				stands = p.rearm(class)
			}
		}
	}
	q.Leave()
	p.leave()
	return e, stands
}

// RetryPinned pins, and does what Retry does.
func (c *Cache) RetryPinned(class, size int) (e handle.Entry, stands float64) {
	on := c.Pin()
	if class < c.classes {
		e, stands = c.Retry(on.ID(), class, size)
	}
	c.Unpin(on)
	return e, stands
}

// swap makes the previous magazine the loaded one if that is empty. The caller
// is pinned.
func (p *cpu) swap(class int) {
	k := &p.caches[class]
	if k.limit.Load() < 0 || k.n() > 0 || k.nprevious == 0 {
		return
	}
	p.moving()
	k.loaded, k.previous = k.previous, k.loaded
	k.setN(k.nprevious)
	p.granted -= int64(k.nprevious) * p.options.blockBytes(class)
	k.nprevious = 0
	p.moved()
	p.check()
}

// Refill takes a magazine of the class from the depot, and returns its last block if the block has size
// bytes. The rest goes into the processor's class cache, or back if the class cache was filled
// meanwhile, or may not hold as much. Refill returns no slot if the depot has no magazine; then the
// block at hand, if any, is too short, and goes back. stands is as for Retry.
func (c *Cache) Refill(class, size int) (e handle.Entry, stands float64) {
	m := c.depot.take(class, c.BlockBytes(class))
	if m == nil {
		c.dropShort(class, size)
		return e, 0
	}
	e = m.pop(size)
	if e.Slot != nil {
		c.mu.Lock()
		stands = c.CountGet(size)
		c.mu.Unlock()
	}
	if m = c.install(class, m); m != nil {
		c.putAway(m)
	}
	return e, stands
}

// dropShort gives the block at hand back if it has fewer than size bytes: it would be in the way of
// the next Get, too. From now on blocks of the class are as long as the class, and serve all Gets of
// it. If all Gets ask for the same size, dropShort is never called.
func (c *Cache) dropShort(class, size int) {
	if c.options.ExactAbove == 0 {
		return // all blocks are as long as their class
	}
	var e handle.Entry
	on := c.Pin()
	p := c.cpu(on.ID())
	if p != nil {
		e = p.takeShort(class, size)
	}
	p.leave()
	c.Unpin(on)
	if e.Slot != nil {
		c.mixed[class].Store(true)
		c.options.Free(e)
	}
}

// takeShort takes the block at hand if it has fewer than size bytes. It counts no hit.
func (p *cpu) takeShort(class, size int) (e handle.Entry) {
	k := &p.caches[class]
	if k.limit.Load() < 0 || k.n() == 0 {
		return e
	}
	if at := &k.loaded.entries[k.n()-1]; at.Slot.Len() < size {
		p.moving()
		e, *at = *at, handle.Entry{}
		k.setN(k.n() - 1)
		k.moved--
		p.moved()
	}
	return e
}

// install makes m the loaded magazine of the processor's class cache, if the class
// cache is empty and may hold as much. It returns the magazine that is left over.
func (c *Cache) install(class int, m *magazine) *magazine {
	b := c.options.budget(c.options.Bytes)
	on := c.Pin()
	p := c.cpu(on.ID())
	if p != nil {
		left := p.put(class, m, b)
		if left != m && !p.caches[class].state.isArmed() {
			p.arm(class)
		}
		m = left
		p.check()
	}
	p.leave()
	c.Unpin(on)
	return m
}

// put is install on the processor p.
func (p *cpu) put(class int, m *magazine, b budget) *magazine {
	k := &p.caches[class]
	limit, n := k.limit.Load(), m.n
	if limit < 0 || n == 0 || k.n() > 0 || !p.grant(class, limit, max(limit, n), b) {
		return m
	}
	p.moving()
	m, k.loaded = k.loaded, m
	k.setN(n)
	k.moved += int64(n)
	p.moved()
	if m != nil {
		m.n = 0
	}
	if p.empty == nil {
		p.empty, m = m, nil
	}
	return m
}
