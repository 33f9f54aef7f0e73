package slab

// A magazine that is empty takes a batch from the depot. Locks are not for the
// pinned: batches are fetched before, and whoever runs on the processor in
// between is reckoned with.

// above is how many classes above its own may serve size bytes: a doubling, but
// blocks that are carved from slabs are not worth the waste.
func (k *cache) above(size int) int {
	if size <= carveLimit {
		return 0
	}
	return 1 << k.grid.shift
}

// again enters to borrow.
func (k *cache) again(class, above, size int) (e entry, ok bool) {
	if class >= k.uncached() {
		return e, false
	}
	id := k.enter()
	if k.magazine(id, class) != nil {
		e, ok = k.borrow(id, class, above, size)
	}
	k.leave(id)
	return e, ok
}

// borrow is pop for who has found the loaded batch empty: out of the spare one, or
// of classes up to so many above. The caller has entered, and the processor
// called id a magazine of the class.
func (k *cache) borrow(id, class, above, size int) (e entry, ok bool) {
	s := k.shard(id)
	k.rebias(&s.mags[class])
	for c := class; !ok && c <= class+above && c < len(s.mags); c++ {
		k.unload(s, c)
		if e, ok = s.mags[c].pop(size); ok {
			s.mags[c].letGo()
		}
	}
	s.done()
	return e, ok
}

// popTracked is what Get does by itself, for blocks that may have a token.
func (k *cache) popTracked(class, size int) (e entry, ok bool) {
	id := k.enter()
	s := k.shard(id)
	if s != nil {
		if e, ok = s.mags[class].pop(size); ok {
			s.mags[class].letGo()
		}
	}
	s.done()
	k.leave(id)
	return e, ok
}

// letGo forgets the slot that was popped last, or its token would never be found
// unused. The caller has entered, and the shard is busy.
func (m *magazine) letGo() { m.loaded.entries[m.n()].s = nil }

// unload makes the spare batch the loaded one if that is empty. The caller has
// entered.
func (k *cache) unload(s *shard, class int) {
	m := &s.mags[class]
	if m.limit.Load() < 0 || m.n() > 0 || m.nspare == 0 {
		return
	}
	m.loaded, m.spare = m.spare, m.loaded
	m.setN(int32(m.nspare))
	s.granted -= int64(m.nspare) * k.sizeOf(class)
	m.nspare = 0
}

// refill returns a block of the class out of the depot, and puts the rest of
// its batch into the processor's magazine. If that has no use for it any more,
// or may not keep as much, the rest goes back.
func (k *core) refill(class, size int) (e entry, ok bool) {
	c := &k.cache
	b := c.depot.take(class, c.sizeOf(class))
	if b == nil {
		return e, false
	}
	b.n--
	e, b.entries[b.n] = b.entries[b.n], entry{}
	e.s.unmark()
	c.countGet(size)
	c.fill()
	switch b = c.install(class, b, k.cacheBudget()); {
	case b == nil:
	case b.n == 0:
		c.depot.recycle(class, b)
	default:
		k.putAway(b)
	}
	return e, true
}

// install makes b the loaded batch of the processor's magazine if that is empty
// and may be as large. It returns the batch that is left over.
func (k *cache) install(class int, b *batch, budget int64) *batch {
	id := k.enter()
	s := k.shard(id)
	if s != nil {
		b = s.install(class, b, k.sizeOf(class), budget)
	}
	s.done()
	k.leave(id)
	return b
}

func (s *shard) install(class int, b *batch, bytes, budget int64) *batch {
	m := &s.mags[class]
	limit, n := m.limit.Load(), b.n
	if limit < 0 || n == 0 || m.n() > 0 || !s.grant(m, limit, max(limit, n), bytes, budget) {
		return b
	}
	b, m.loaded = m.loaded, b
	m.setN(n)
	m.moved += int64(n)
	if b != nil {
		b.n = 0
	}
	if s.blank == nil {
		s.blank, b = b, nil
	}
	return b
}
