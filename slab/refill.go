package slab

// A magazine that is empty takes a full batch from the depot; one that is full
// gives one. Locks are not for the pinned: batches are fetched before and put
// away after, and whoever runs on the processor in between is reckoned with.

// again is pop for who has found the loaded batch empty: from the spare one, or
// from classes up to so many above, if any.
func (k *cache) again(class, above, size int) (e entry, ok bool) {
	s := k.enter()
	if s != nil && s.limit.Load() >= 0 {
		if s.mags[class].swap(true) {
			e, ok = s.pop(class, size)
		}
		for c := class; !ok && c <= class+above && c < len(s.mags); c++ {
			if s.mags[c].n > 0 || s.mags[c].swap(true) {
				e, ok = s.pop(c, size)
			}
		}
	}
	k.leave(s)
	return e, ok
}

// refill returns a block of the class out of the depot, and puts the rest of
// its batch into the processor's magazine. If that has no use for it any more
// the rest is left, to go back to the strategy.
func (k *cache) refill(class, size int) (e entry, left *batch, ok bool) {
	bytes := k.sizeOf(class)
	b := k.depot.take(class, bytes)
	if b == nil {
		return e, nil, false
	}
	b.n--
	e, b.entries[b.n] = b.entries[b.n], entry{}
	if b.n > 0 && !k.install(class, b, bytes) {
		left = b
	}
	k.countGet(size)
	return e, left, true
}

// install makes b the loaded batch of the processor's magazine, if that is empty.
func (k *cache) install(class int, b *batch, bytes int64) bool {
	var old *batch
	fits := false
	s := k.enter()
	if s != nil {
		m := &s.mags[class]
		limit := s.limit.Load()
		fits = limit >= 0 && m.cap > 0 && m.n == 0 && b.n <= m.cap && s.bytes+int64(b.n)*bytes <= limit
		if fits {
			old, m.loaded, m.n = m.loaded, b, b.n
			s.bytes += int64(b.n) * bytes
		}
	}
	k.leave(s)
	if fits {
		k.depot.recycle(class, old)
	}
	return fits
}

// overflow keeps e, for which its magazine had no room, and makes that room:
// the batch that leaves goes to the depot, or is returned to go back to the
// strategy. kept is false if e has to go there itself.
func (k *cache) overflow(class int, e entry, size int, budget, depotLimit int64) (spill *batch, kept bool) {
	if class >= k.uncached() || k.stopped.Load() {
		return nil, false
	}
	if k.pushAgain(class, e, size, budget) {
		return nil, true
	}
	blanks := [2]*batch{k.depot.blank(class), k.depot.blank(class)}
	var out *batch
	from := class
	s := k.enter()
	if s != nil && s.limit.Load() >= 0 {
		from, out = s.makeRoom(class, &blanks)
		kept = s.push(class, e, size)
	}
	k.leave(s)
	k.depot.recycle(class, blanks[0])
	k.depot.recycle(class, blanks[1])
	if out != nil && (k.stopped.Load() || !k.depot.put(from, out, k.sizeOf(from), depotLimit)) {
		spill = out
	}
	return spill, kept
}

// pushAgain is push onto a blank spare batch, and within a budget that may
// have changed.
func (k *cache) pushAgain(class int, e entry, size int, budget int64) (ok bool) {
	s := k.enter()
	if s != nil {
		if old := s.limit.Load(); old >= 0 {
			if old != budget {
				s.limit.CompareAndSwap(old, budget) // or a drain has begun
			}
			m := &s.mags[class]
			ok = (m.n < m.cap || s.bytes+m.size <= budget && m.swap(false)) && s.push(class, e, size)
		}
	}
	k.leave(s)
	return ok
}

// makeRoom gives a new magazine its batches, or takes a batch out of a full
// one, or out of any where the limit is reached. The caller has entered.
func (s *shard) makeRoom(class int, blanks *[2]*batch) (from int, out *batch) {
	m := &s.mags[class]
	limit := s.limit.Load()
	switch {
	case m.cap == 0:
		m.loaded, m.spare = blanks[0], blanks[1]
		m.cap = int32(max(1, min(batchLen, magazineBytes/2/m.size)))
		*blanks = [2]*batch{}
	case m.n >= m.cap && m.spareFull:
		out, m.spare, m.loaded, blanks[0] = m.spare, m.loaded, blanks[0], nil
		out.n, m.n = m.cap, 0
		s.bytes -= int64(out.n) * m.size
		return class, out
	}
	if s.bytes+m.size > limit && m.size <= limit {
		return s.evict(blanks)
	}
	return class, nil
}

// evict takes a batch out of some magazine, in turn, so that classes which are
// no longer used do not starve the others. The caller has entered.
func (s *shard) evict(blanks *[2]*batch) (from int, out *batch) {
	if blanks[0] == nil {
		return 0, nil
	}
	for range s.mags {
		if s.victim++; s.victim >= len(s.mags) {
			s.victim = 0
		}
		m := &s.mags[s.victim]
		switch {
		case m.spareFull:
			out, m.spare, m.spareFull = m.spare, blanks[0], false
			out.n = m.cap
		case m.n > 0:
			out, m.loaded = m.loaded, blanks[0]
			out.n, m.n = m.n, 0
		default:
			continue
		}
		blanks[0] = nil
		s.bytes -= int64(out.n) * m.size
		return s.victim, out
	}
	return 0, nil
}
