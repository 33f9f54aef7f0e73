package growpool

// Stats returns the statistics of every key, exact when no call runs. In a pool with a
// budget a key that loses its buffer leaves the map; [Pool.Totals] still includes it.
func (p *Pool[K]) Stats() map[K]KeyStats {
	p.must()
	all := map[K]KeyStats{}
	for e := range p.table.all() {
		if s := p.statsOf(e); s != (KeyStats{}) {
			all[e.key] = s
		}
	}
	return all
}

// statsOf returns the zero KeyStats for a key that has left: removed has its counts.
func (p *Pool[K]) statsOf(e *entry[K]) KeyStats {
	e.mu.Lock()
	defer p.unlock(e)
	if e.dead {
		return KeyStats{}
	}
	s := e.counts()
	if b := e.cur.Load(); b != nil {
		s.Bytes = int64(b.size)
	}
	return s
}

// Totals returns the sums of the statistics over all keys, including keys that
// have left.
func (p *Pool[K]) Totals() KeyStats {
	p.must()
	for tries := 1; ; tries++ {
		before := p.departed()
		sum := before
		for _, s := range p.Stats() {
			sum.add(s)
		}
		if tries == mostSums || p.departed() == before { // else a key that left meanwhile counts twice
			return sum
		}
	}
}

// mostSums bounds how often Totals adds up again if keys leave all the time.
const mostSums = 32

// departed returns the sums over the keys that have left.
func (p *Pool[K]) departed() KeyStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.removed
}

// ClearStats sets all counts to 0. Buffers stay.
func (p *Pool[K]) ClearStats() {
	p.must()
	for e := range p.table.all() {
		e.mu.Lock()
		e.hidden = e.total()
		p.unlock(e)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed = KeyStats{}
}

// Usage says where a pool's memory is, in bytes.
type Usage[K comparable] struct {
	TotalBytes int64       // of Keys
	Keys       map[K]int64 // the buffers, by key
	HeldBytes  int64       // TotalBytes, and leased buffers that no key has any more
	PeakBytes  int64       // HeldBytes at most; a grow gives up the old buffer before it takes the new one
	// of buffers that Get has shown and no key has, until the collector has found them; not in HeldBytes
	LeftBytes     int64
	MetadataBytes int64 // of the bookkeeping, estimated
}

// MemoryUsage returns the memory of the pool's buffers. With a budget of about 10 MiB or
// more HeldBytes and MetadataBytes together stay within the budget. A key whose buffer is replaced
// or lost during the reading is missing, so that TotalBytes is never above HeldBytes.
func (p *Pool[K]) MemoryUsage() Usage[K] {
	p.must()
	u := Usage[K]{Keys: map[K]int64{}}
	entries := int64(0)
	had := map[*entry[K]]*buffer{}
	for e := range p.table.all() {
		entries++
		if b := e.cur.Load(); b != nil {
			had[e] = b
		}
	}
	u.HeldBytes, u.PeakBytes = p.budget.usage()
	for e, b := range had {
		if e.cur.Load() == b { // so it was held in between
			u.Keys[e.key] = int64(b.size)
			u.TotalBytes += int64(b.size)
		}
	}
	u.LeftBytes = p.budget.left.now.Load()
	u.MetadataBytes = entries * keyBytes[K]()
	if p.policy != nil {
		u.MetadataBytes += cacheBytes(p.config.MaxBytes)
	}
	return u
}
