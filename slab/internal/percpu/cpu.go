package percpu

// cpu returns what processor id has beside its class caches, or nil. The caller is
// pinned, and calls leave at the end.
func (c *Cache) cpu(id int) *cpu {
	p := c.acting
	if p == nil {
		if id >= len(c.cpus) {
			return nil
		}
		p = &c.cpus[id]
	}
	p.busy = 1
	return p
}

func (p *cpu) leave() {
	if p != nil {
		p.busy = 0
	}
}

// RunOn lets all calls run as on processor k, of a Cache that is Replayed. The one
// goroutine that uses the Cache is pinned to any processor meanwhile, and that does not
// matter: nobody else is on k.
func (c *Cache) RunOn(k int) {
	c.acting = &c.cpus[k]
	c.reach, c.stride = c.acting.caches, 0
}
