package percpu

import "github.com/bufslab/bufslab/internal/pin"

// Reclaim empties all class caches and the depot, or, if idle, takes only blocks that were
// not needed since the last Reclaim, and gives the blocks to the strategy. It reports
// whether there were any. One goroutine at a time calls it.
//
// The class caches are closed meanwhile: Reclaim makes their limits negative, and after
// quiesce no goroutine is left that has seen the old limits.
func (c *Cache) Reclaim(idle bool) (any bool) {
	return c.reclaim(idle, func() bool { return c.worthClosing(idle) })
}

// ReclaimLimits is Reclaim(false) that also sets the limit of every class cache to 0, where Reclaim may leave those
// that have no block. Until Options.Raised is called no class cache keeps a block.
func (c *Cache) ReclaimLimits() { c.reclaim(false, func() bool { return true }) }

func (c *Cache) reclaim(idle bool, closes func() bool) (any bool) {
	if c.classes == 0 {
		return false
	}
	out := c.depot.reclaim(idle, c.BlockBytes, nil)
	if closes() {
		out = c.takeAll(idle, out)
	}
	any = out != nil
	defer func() { c.depot.restore(out, c.BlockBytes) }() // the rest, if the strategy panics
	for out != nil {
		out.free(c.options.Free)
		out = out.next
	}
	return any
}

// Stop makes the caches keep nothing until Start, which may be never: all released blocks go to
// the strategy. Reclaim then finds all blocks. Stops add up.
func (c *Cache) Stop() {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.depot.stops.Add(1) == 1 && c.classes > 0 {
		c.close()
	}
}

// Start undoes one Stop.
func (c *Cache) Start() {
	c.closing.Lock()
	defer c.closing.Unlock()
	c.depot.stops.Add(-1)
	c.open()
}

func (c *Cache) takeAll(idle bool, out *magazine) *magazine {
	c.closing.Lock()
	defer c.closing.Unlock()
	c.close()
	defer c.open()
	for i := range c.cpus {
		out = c.cpus[i].take(idle, out)
	}
	return out
}

// close keeps every goroutine off the class caches until open. All others miss meanwhile, so close waits first for
// what it needs.
func (c *Cache) close() {
	pin.Ready()
	for i := range c.caches {
		c.caches[i].invert(func(limit int32) bool { return limit >= 0 })
	}
	c.quiesce()
}

// open lets the class caches be used again, unless the caches are stopped.
func (c *Cache) open() {
	if c.depot.stopped() {
		return
	}
	for i := range c.caches {
		c.caches[i].invert(func(limit int32) bool { return limit < 0 })
	}
}

// worthClosing reports false for a reclaim that would find nothing: it then only prepares the
// next reclaim, and needs no barrier. It looks without synchronisation, so it may miss blocks that
// are released meanwhile.
func (c *Cache) worthClosing(idle bool) bool {
	if !pin.Exclusive && !c.options.Replayed {
		return true
	}
	for p := range c.cpus {
		for i := range c.cpus[p].caches {
			k := &c.cpus[p].caches[i]
			if min(c.cpus[p].takes(i, idle), k.n()+k.nprevious) > 0 {
				return true
			}
		}
	}
	for p := range c.cpus {
		c.cpus[p].look()
	}
	return false
}

// takes returns the number of blocks that a reclaim takes from the bottom of class cache i.
func (p *cpu) takes(i int, idle bool) int32 {
	if !idle {
		return everything
	}
	return p.seen[i].unneeded(&p.caches[i])
}

// look prepares for the next reclaim.
func (p *cpu) look() {
	for i := range p.caches {
		p.seen[i] = look(&p.caches[i])
	}
}

// take takes blocks out of the closed class caches of a cpu.
func (p *cpu) take(idle bool, out *magazine) *magazine {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.caches {
		switch n := p.takes(i, idle); n {
		case 0:
		case everything:
			out = p.detach(i, ^p.caches[i].limit.Swap(^0), out)
		default:
			out = p.takeBottom(i, n, out)
		}
	}
	p.look()
	return out
}

// takeBottom takes n blocks from the bottom of a class cache, lowers its limit, and links the blocks
// to out.
func (p *cpu) takeBottom(class int, n int32, out *magazine) *magazine {
	m := p.caches[class].cutBottom(n)
	m.class, m.next = int32(class), out
	p.granted -= int64(n) * p.options.blockBytes(class)
	return m
}
