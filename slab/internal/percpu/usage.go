package percpu

import "sync/atomic"

// counters count the Gets and Releases that no class cache serves, and their bytes. A call that
// counts holds Options.Lock anyway, for the block that it takes or gives back: so counting takes
// no atomic operation.
type counters struct {
	gets, releases, got, released int64

	missed missed
}

// Usage is what the caches hold and have counted. Figures are exact while no
// call runs.
type Usage struct {
	Blocks, Bytes  int64 // in caches and the depot
	Gets, Releases int64
	Got, Released  int64 // bytes as asked for, of all Gets and of all Releases
}

// CountGet counts a Get of size bytes that no class cache served. It returns what the Get
// stands for in a profile, as Retry does. The caller holds Options.Lock, as those of
// CountRelease and CountGrow do.
func (c *Cache) CountGet(size int) (stands float64) {
	c.counts.gets++
	if c.counts.got += int64(size); c.counts.got < c.counts.missed.due {
		return 0
	}
	return c.sampleMissed(size)
}

// CountRelease counts a Release of size bytes that no class cache took.
func (c *Cache) CountRelease(size int) {
	c.counts.releases++
	c.counts.released += int64(size)
}

// CountGrow counts a Release and a Get at once, which no class cache served.
func (c *Cache) CountGrow(from, to int) (stands float64) {
	c.CountRelease(from)
	return c.CountGet(to)
}

// Misses counts the Gets that no class cache served.
func (c *Cache) Misses() int64 {
	gets, _ := c.countedGets()
	return gets
}

func (c *Cache) countedGets() (gets, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts.gets, c.counts.got
}

func (c *Cache) countedReleases() (releases, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts.releases, c.counts.released
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

// Usage adds up what all processors have. Of what no class cache counts it reads Releases
// first and Gets last: a Release is not to be counted whose Get is not.
func (c *Cache) Usage() (u Usage) {
	u.Blocks, u.Bytes = c.depot.usage()
	u.Releases, u.Released = c.countedReleases()
	for i := range c.cpus {
		c.addUsage(&u, &c.cpus[i])
	}
	gets, got := c.countedGets()
	u.Gets += gets
	u.Got += got
	return u
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

// bytes adds up the first n blocks. Who looks at another processor's may find one gone, or
// no magazine though n was read as that of one.
func (m *magazine) bytes(n int32) (sum int64) {
	if m == nil {
		return 0
	}
	for i := range n {
		if s := m.entries[i%magazineSlots].Slot; s != nil {
			sum += int64(s.Len())
		}
	}
	return sum
}

// askedBytes reads both sums between two hits: else their difference would show what came
// and went while the reader paused between the two.
func (k *ClassCache) askedBytes() (got, released int64) {
	for range 8 { // a hit takes longer than this, so one look is nearly always enough
		before := atomic.LoadUint64(&k.state)
		got, released = atomic.LoadInt64(&k.got), atomic.LoadInt64(&k.released)
		if atomic.LoadUint64(&k.state) == before {
			break
		}
	}
	return got, released
}
