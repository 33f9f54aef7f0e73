package growpool

// lock returns the entry of a key, locked. The caller ends with unlock.
func (p *Pool[K]) lock(key K) (*entry[K], error) {
	if !p.made() {
		return nil, errNotMade
	}
	for {
		e := p.table.add(key)
		e.mu.Lock()
		switch {
		case p.closed.Load():
			p.unlock(e)
			return nil, ErrClosed
		case !e.dead:
			return e, nil
		}
		e.mu.Unlock()
	}
}

// unlock unlocks an entry, and removes it if there is nothing to remember. A reclaim may have
// passed over the locked entry; so unlock wakes calls that wait for memory.
func (p *Pool[K]) unlock(e *entry[K]) {
	p.unlockQuietly(e)
	p.slab.Offer()
}

// unlockQuietly is unlock for a reclaim, which would wake its own caller. It looks for evictions
// after it has unlocked: until then an eviction could not lock the entry, and left the work to us.
// If another goroutine has locked the entry by now, that goroutine will look.
func (p *Pool[K]) unlockQuietly(e *entry[K]) {
	for done := false; !done; {
		e.mu.Unlock()
		if e.cur.Load() != nil || !e.mu.TryLock() {
			return
		}
		if done = e.cur.Load() == nil; done { // else an eviction may come now
			p.removeUnused(e)
		}
	}
	e.mu.Unlock()
}

// removeUnused removes a key without a buffer, if the key never had one or the pool has a budget.
// The caller holds e.mu.
func (p *Pool[K]) removeUnused(e *entry[K]) {
	if !e.dead && !e.turn.taken && (p.policy != nil || e.requests() == 0) {
		e.dead = true
		p.remember(e.counts())
		p.table.remove(e)
	}
}

func (p *Pool[K]) remember(s KeyStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed.add(s)
}
