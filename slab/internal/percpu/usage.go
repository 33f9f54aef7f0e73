package percpu

// counters count what no class cache counts: Gets and Releases, and the bytes got
// less those released. Only the pinned goroutine may access them.
type counters struct{ gets, releases, asked int64 }

// Usage is what the caches hold and have counted. Figures are exact while no
// call runs.
type Usage struct {
	Blocks, Bytes  int64 // in caches and the depot
	Gets, Releases int64
	Asked          int64 // bytes got less bytes released
}

// CountGet counts a Get of size bytes that no class cache served.
func (c *Cache) CountGet(size int) { c.count(1, 0, int64(size)) }

// CountRelease counts a Release of size bytes that no class cache took.
func (c *Cache) CountRelease(size int) { c.count(0, 1, int64(-size)) }

// CountGrow counts a Release and a Get at once, which no class cache served.
func (c *Cache) CountGrow(from, to int) { c.count(1, 1, int64(to-from)) }

func (c *Cache) count(gets, releases, asked int64) {
	on := c.Pin()
	p := c.cpu(on.ID())
	if p != nil {
		p.counts.gets += gets
		p.counts.releases += releases
		p.counts.asked += asked
	}
	p.leave()
	c.Unpin(on)
	if p != nil {
		return
	}
	c.rest.gets.Add(gets)
	c.rest.releases.Add(releases)
	c.rest.asked.Add(asked)
}

// Gets counts the Gets of all processors.
func (c *Cache) Gets() int64 {
	n := c.rest.gets.Load()
	for i := range c.cpus {
		n += c.cpus[i].gets()
	}
	return n
}

func (p *cpu) gets() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.counts.gets
	for i := range p.caches {
		k := &p.caches[i]
		gets, _ := k.counts(int64(k.n()) + int64(k.nprevious))
		n += gets
	}
	return n
}

// Usage adds up what all processors have.
func (c *Cache) Usage() (u Usage) {
	u.Blocks, u.Bytes = c.depot.usage()
	u.Gets, u.Releases, u.Asked = c.rest.gets.Load(), c.rest.releases.Load(), c.rest.asked.Load()
	for i := range c.cpus {
		c.addUsage(&u, &c.cpus[i])
	}
	return u
}

func (c *Cache) addUsage(u *Usage, p *cpu) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.caches {
		k := &p.caches[i]
		n := int64(k.n()) + int64(k.nprevious)
		u.Blocks += n
		u.Bytes += k.loaded.bytes(k.n()) + k.previous.bytes(k.nprevious)
		gets, releases := k.counts(n)
		u.Gets += gets
		u.Releases += releases
		u.Asked += k.asked
	}
	u.Gets += p.counts.gets
	u.Releases += p.counts.releases
	u.Asked += p.counts.asked
}

// bytes adds up the first n blocks. Who looks at another processor's may find one gone.
func (m *magazine) bytes(n int32) (sum int64) {
	for i := range n {
		if s := m.entries[i%magazineSlots].Slot; s != nil {
			sum += int64(s.Len())
		}
	}
	return sum
}

// counts tells the hits of a class cache with n blocks apart: blocks that magazines
// have not moved came by Release and went by Get.
func (k *ClassCache) counts(n int64) (gets, releases int64) {
	hits, more := int64(k.state>>loadedBits), n-k.moved
	return (hits - more) / 2, (hits + more) / 2
}
