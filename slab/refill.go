package slab

// A magazine that is empty takes a full batch from the depot; one that is full
// gives one. Locks are not for the pinned: batches are fetched before and put
// away after, and whoever runs on the processor in between is reckoned with.

// refill returns a block of the class out of the depot, and puts the rest of
// its batch into the processor's magazine. If that has no use for it any more
// the rest is left, to go back to the strategy.
func (k *cache) refill(class, size int) (e entry, left *batch, ok bool) {
	if class >= k.uncached() {
		return e, nil, false
	}
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
	s := k.enter()
	if s == nil {
		return false
	}
	m := &s.mags[class]
	limit := s.limit.Load()
	fits := limit >= 0 && m.cap > 0 && m.n == 0 && b.n <= m.cap && s.bytes+int64(b.n)*bytes <= limit
	var old *batch
	if fits {
		old, m.loaded, m.n = m.loaded, b, b.n
		s.bytes += int64(b.n) * bytes
	}
	s.leave()
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
	bytes := k.sizeOf(class)
	blank := k.depot.blank(class)
	second := k.depot.blank(class)
	s := k.enter()
	if s == nil {
		return nil, false
	}
	if old := s.limit.Load(); old >= 0 && old != budget {
		s.limit.CompareAndSwap(old, budget)
	}
	var out *batch
	outClass := class
	if s.limit.Load() >= 0 {
		m := &s.mags[class]
		switch {
		case m.cap == 0:
			m.loaded, m.spare, m.cap = blank, second, int32(max(1, min(batchLen, magazineBytes/2/bytes)))
			blank, second = nil, nil
		case m.n >= m.cap && m.spareFull:
			out = m.spare
			out.n = m.cap
			m.spare, m.loaded, m.n, blank = m.loaded, blank, 0, nil
			s.bytes -= int64(out.n) * bytes
		case s.bytes+bytes > s.limit.Load() && bytes <= s.limit.Load():
			outClass, out, blank = s.evict(blank)
		}
		kept = s.push(class, e, size)
	}
	s.leave()
	k.depot.recycle(class, blank)
	k.depot.recycle(class, second)
	if out != nil && (k.stopped.Load() || !k.depot.put(outClass, out, k.sizeOf(outClass), depotLimit)) {
		spill = out
	}
	return spill, kept
}

// evict takes a batch out of some magazine, in turn, so that classes which are
// no longer used do not starve the others. The caller has entered.
func (s *shard) evict(blank *batch) (class int, out, left *batch) {
	for range s.mags {
		if s.victim++; s.victim >= len(s.mags) {
			s.victim = 0
		}
		m := &s.mags[s.victim]
		switch {
		case m.spareFull:
			out, m.spare, m.spareFull = m.spare, blank, false
			out.n = m.cap
		case m.n > 0:
			out, m.loaded = m.loaded, blank
			out.n, m.n = m.n, 0
		default:
			continue
		}
		s.bytes -= int64(out.n) * m.size
		return s.victim, out, nil
	}
	return 0, nil, blank
}
