package percpu

import "sync/atomic"

// Usage has the blocks in the caches and the counts. Figures are exact while no
// call runs.
type Usage struct {
	Blocks, Bytes  int64 // in caches and the depot
	Gets, Releases int64
	Got, Released  int64 // bytes as asked for, of all Gets and of all Releases
}

// Misses counts the Gets that no class cache served.
func (c *Cache) Misses() int64 { return c.counted().gets }

func (c *Cache) counted() counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// Gets counts the Gets of all processors.
func (c *Cache) Gets() int64 {
	n := c.Misses()
	for i := range c.cpus {
		n += c.cpus[i].allGets()
	}
	return n
}

func (p *cpu) allGets() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	gets, _ := p.served()
	return gets
}

// Usage adds up the figures of all processors. Of calls that no class cache counts it reads
// Releases first and Gets last, so that it counts no Release without its Get.
func (c *Cache) Usage() (u Usage) {
	u.Blocks, u.Bytes = c.depot.usage()
	n := c.counted()
	u.Releases, u.Released = n.releases, n.released
	for i := range c.cpus {
		c.addUsage(&u, &c.cpus[i])
	}
	n = c.counted()
	u.Gets += n.gets
	u.Got += n.got
	return u
}

// OutBytes returns the active bytes at a moment: all Gets before it, less all Releases before it. It adds up
// the Gets first, and then the Releases: if calls run meanwhile the result may be too small, never too large.
func (c *Cache) OutBytes() int64 {
	if c.classes == 0 { // it is exact, and quicker
		n := c.counted()
		return n.got - n.released
	}
	got := c.sum(func(n *counters) int64 { return n.got }, func(k *ClassCache) *int64 { return &k.got })
	return got - c.sum(func(n *counters) int64 { return n.released }, func(k *ClassCache) *int64 { return &k.released })
}

// sum adds up a number of all class caches, and the same number of the calls that no class cache serves.
func (c *Cache) sum(counted func(*counters) int64, of func(*ClassCache) *int64) int64 {
	n := c.counted()
	sum := counted(&n)
	for i := range c.cpus {
		sum += c.cpus[i].sum(of)
	}
	return sum
}

func (p *cpu) sum(of func(*ClassCache) *int64) (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, class := range p.used[:p.known.Load()] {
		n += atomic.LoadInt64(of(&p.caches[class]))
	}
	return n
}

func (c *Cache) addUsage(u *Usage, p *cpu) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.caches {
		k := &p.caches[i]
		u.Blocks += int64(k.n()) + int64(k.nprevious)
		u.Bytes += k.loaded.bytes(k.n()) + k.previous.bytes(k.nprevious)
		got, released := k.askedBytes()
		u.Got += got
		u.Released += released
	}
	gets, releases := p.served()
	u.Gets += gets
	u.Releases += releases
}
