package percpu

// Where magazines go that leave a class cache.

// putAway gives linked magazines to the depot, or their blocks to the strategy.
func (c *Cache) putAway(m *magazine) {
	defer func() { c.depot.restore(m, c.BlockBytes) }() // the rest, if the strategy panics
	for m != nil {
		next := m.next
		if m.n == 0 || !c.depotTakes(int(m.class), m.n) || !c.depot.put(m, c.BlockBytes(int(m.class)),
			c.options.Depot) {
			c.refusedAll(m)
			m.free(c.options.Free)
			c.depot.recycle(m)
		}
		m = next
	}
}

// depotTakes reports whether the depot may have one more magazine, of n blocks.
func (c *Cache) depotTakes(class int, n int32) bool {
	have, block := c.depot.classes[class].have.Load()*magazineSlots+n, c.BlockBytes(class)
	return c.wants.allows(c.options.budget(c.options.Depot), c.depot.bytes.Load()+int64(n)*block, block, class, have)
}

// refusedAll notes the blocks of a magazine that no cache takes.
func (c *Cache) refusedAll(m *magazine) {
	if m.n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Refused(int(m.class), m.n)
	}
}
