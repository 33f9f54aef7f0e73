package growpool

// How a key comes by a buffer, in the order of a request that finds none large
// enough:
//
//  1. putAside: what the key has goes, if it can, before anything is taken.
//  2. reserve: the cache says whether the key may keep the new one, and whose
//     buffers go for it; the budget has the last word.
//  3. fill: the memory, from the slab.Pool.
//  4. give: it is the key's.
//
// What fails is undone in reverse.

// obtain returns a buffer of n bytes or more for a key whose lock the caller has,
// with a reference for the caller. must says that the memory stays the pool's
// although the key may not keep it.
func (p *Pool[K]) obtain(e *entry[K], n int, must bool) (*buffer, error) {
	have := 0
	if b := e.cur.Load(); b != nil && b.hold() {
		if n <= b.size {
			p.hit(e)
			return b, nil
		}
		have = b.size
		b.drop()
	}
	if int64(n) > p.budget.max {
		return nil, p.budget.refusal(n)
	}
	old := p.putAside(e)
	b, err := p.provide(e, have, n, must)
	if err != nil {
		p.putBack(e, old, have)
		return nil, err
	}
	if have > 0 {
		e.grows++
	} else {
		e.misses++
	}
	if old != nil && old.shown.Load() {
		old.state.Store(replaced)
		old.drop()
	}
	return b, nil
}

// hit counts a request that found room. The cache learns of the others as it is asked.
func (p *Pool[K]) hit(e *entry[K]) {
	e.hits.add()
	if p.keep != nil {
		p.keep.touch(e.id)
	}
}

// putAside makes room for a larger buffer: contents are not kept, so the old one
// goes first, to the slab.Pool if nobody can see it.
func (p *Pool[K]) putAside(e *entry[K]) *buffer {
	old := e.take()
	switch {
	case old == nil:
	case old.shown.Load():
		old.refund()
	default:
		old.drop()
	}
	return old
}

// putBack undoes putAside as far as it can be undone: if in between somebody took
// the room, the key goes without.
func (p *Pool[K]) putBack(e *entry[K], old *buffer, have int) {
	switch {
	case old == nil:
	case !old.shown.Load():
		if b := p.newBuffer(e, have); p.reserve(e, b) && p.fill(e, b, true) == nil {
			b.drop()
		}
	case p.reserve(e, old):
		p.give(e, old)
	default:
		old.state.Store(dropped)
		old.drop()
	}
}

// provide makes a buffer as large as the policy says, if the key may keep one
// of that size, or else as large as it has to be.
func (p *Pool[K]) provide(e *entry[K], have, want int, must bool) (*buffer, error) {
	if size := p.config.Growth(have, want); size > want && int64(size) <= p.budget.max {
		if b := p.newBuffer(e, size); p.reserve(e, b) {
			if err := p.fill(e, b, true); err == nil || !outOfMemory(err) {
				return b, err
			}
		}
	}
	b := p.newBuffer(e, want)
	kept := p.reserve(e, b)
	if !kept && must && !p.shed(e, b) {
		return b, p.budget.refusal(want)
	}
	return b, p.fill(e, b, kept)
}

func (p *Pool[K]) newBuffer(e *entry[K], size int) *buffer {
	return newBuffer(size, p.budget, e, e.key)
}

// fill gets the memory of a buffer and gives it to the key, if that may keep it. One
// reference is the caller's.
func (p *Pool[K]) fill(e *entry[K], b *buffer, kept bool) error {
	if err := b.fillPatiently(p.slab); err != nil {
		if kept {
			p.unkeep(e)
		}
		b.refund()
		return err
	}
	if kept {
		b.hold()
		p.give(e, b)
	}
	return nil
}

// give makes b the key's, unless the cache has changed its mind meanwhile.
func (p *Pool[K]) give(e *entry[K], b *buffer) {
	e.cur.Store(b)
	if b.evicted.Load() {
		p.evict(b)
	}
}

// reserve gets leave for the key to keep b, from the cache and the budget.
func (p *Pool[K]) reserve(e *entry[K], b *buffer) bool {
	b.evicted.Store(false) // it may have been, for the one that failed
	if p.keep != nil {
		gone, ok := p.keep.admit(e.id, b, int64(b.size)+p.budget.perKey)
		p.evictAll(gone)
		if !ok {
			return false
		}
	}
	if !p.charge(b) {
		p.unkeep(e) // leases have the room
		return false
	}
	return true
}

func (p *Pool[K]) charge(b *buffer) bool {
	ok := p.budget.reserve(b.size)
	b.charged.Store(ok)
	return ok
}

func (p *Pool[K]) unkeep(e *entry[K]) {
	if p.keep != nil {
		p.evictAll(p.keep.remove(e.id))
	}
}

// shed finds room for a buffer in use by dropping buffers that are not, until
// there are none.
func (p *Pool[K]) shed(e *entry[K], b *buffer) bool {
	for {
		if p.charge(b) {
			return true
		}
		if !p.shedOne(e) {
			return p.charge(b)
		}
	}
}

// shedOne drops a buffer that nobody uses, of another key than e's.
func (p *Pool[K]) shedOne(e *entry[K]) bool {
	for x := range p.table.around() {
		if b := x.cur.Load(); x != e && b != nil && b.refs.Load() == 1 {
			p.unkeep(x)
			p.evict(b)
			return true
		}
	}
	return false
}
