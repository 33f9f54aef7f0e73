package slab

// A magazine that is full grows, or gives a batch to the depot. It begins with
// one block and doubles, so that a class which is hardly used takes little of the
// budget.

// most returns the blocks that a batch of a class may have: two of them are
// within magazineBytes.
func most(bytes int64) int32 { return int32(max(1, min(batchLen, magazineBytes/2/bytes))) }

// overflow keeps e, for which its magazine had no room, and makes that room: out
// are the linked batches that leave for it. kept is false if e has to go back to
// the strategy.
func (k *cache) overflow(class int, e entry, size int, budget int64) (out *batch, kept bool) {
	if class >= k.uncached() || k.depot.stopped.Load() {
		return nil, false
	}
	var blank *batch // not made by the pinned
	for {
		id := k.enter()
		s := k.shard(id)
		ready := s == nil || s.blank != nil || blank != nil
		if s != nil && ready {
			if s.blank == nil {
				s.blank = blank
			}
			out = k.makeRoom(s, class, budget)
			m := &s.mags[class]
			kept = m.push(e, size)
			if !kept && out == nil && s.blank != nil && m.limit.Load() < 0 {
				out, kept = s.aside(class, e, size), true
			}
		}
		s.done()
		k.leave(id)
		if ready {
			return out, kept
		}
		blank = k.depot.blank(class)
	}
}

// aside makes a batch of a block that was released with size bytes while its
// magazine is shut. The caller has entered; the shard has a blank batch.
func (s *shard) aside(class int, e entry, size int) *batch {
	b := s.blank
	s.blank = nil
	b.entries[0], b.n, b.class = e, 1, int32(class)
	s.puts++
	s.asked -= int64(size)
	return b
}

// makeRoom lets the loaded batch of the class have one more block than it
// has, if that is within the budget, and returns the batches that have to leave
// for it. The caller has entered; the shard has a blank batch.
func (k *cache) makeRoom(s *shard, class int, budget int64) (out *batch) {
	m := &s.mags[class]
	limit, bytes := m.limit.Load(), k.sizeOf(class)
	if limit < 0 || m.n() < limit {
		return nil
	}
	if m.loaded == nil {
		m.loaded, s.blank = s.blank, nil
	}
	if limit < most(bytes) {
		if s.grant(m, limit, max(1, min(2*limit, most(bytes))), bytes, budget) || s.grant(m, limit, limit+1, bytes, budget) {
			return nil
		}
		out = k.evict(s, class)
		if s.grant(m, limit, limit+1, bytes, budget) || out != nil || limit == 0 {
			return out
		}
	}
	return k.unburden(s, class, budget)
}

// grant changes the limit of a magazine, if the budget allows it. The caller
// has entered and found the limit not negative.
func (s *shard) grant(m *magazine, limit, to int32, bytes, budget int64) bool {
	more := int64(to-limit) * bytes
	if s.granted+more > budget || !m.limit.CompareAndSwap(limit, to) { // or a drain has begun
		return false
	}
	s.granted += more
	return true
}

// unburden makes the loaded batch the spare one, if that is within the budget,
// and a blank one the loaded batch. It returns the batch that has to leave.
func (k *cache) unburden(s *shard, class int, budget int64) (out *batch) {
	m, bytes := &s.mags[class], k.sizeOf(class)
	n, below := m.n(), int32(m.nspare)
	out, m.loaded, s.blank = m.loaded, s.blank, nil
	m.setN(0)
	if more := int64(n-below) * bytes; s.granted+more <= budget {
		s.granted += more
		m.nspare = int8(n)
		out, m.spare, n = m.spare, out, below
	}
	if n == 0 {
		s.blank = out
		return nil
	}
	out.n, out.class = n, int32(class)
	m.moved -= int64(n)
	return out
}

// evict takes all from the magazine of some other class, in turn, so that classes which
// are no longer used do not starve the others. The caller has entered.
func (k *cache) evict(s *shard, but int) (out *batch) {
	for range s.mags {
		if s.victim++; s.victim >= len(s.mags) {
			s.victim = 0
		}
		m := &s.mags[s.victim]
		limit := m.limit.Load()
		if s.victim == but || limit <= 0 || !m.limit.CompareAndSwap(limit, 0) {
			continue
		}
		return k.strip(s, s.victim, limit)
	}
	return nil
}

// strip takes both batches, those that are not blank linked, from a magazine
// whose limit was as given and is changed already.
func (k *cache) strip(s *shard, class int, limit int32) (out *batch) {
	m := &s.mags[class]
	s.granted -= int64(limit+int32(m.nspare)) * k.sizeOf(class)
	m.loaded = m.take(m.loaded, class, m.n(), &out)
	m.spare = m.take(m.spare, class, int32(m.nspare), &out)
	m.setN(0)
	m.nspare = 0
	return out
}

func (m *magazine) take(b *batch, class int, n int32, out **batch) (blank *batch) {
	if n == 0 {
		return b
	}
	b.n, b.class, b.next = n, int32(class), *out
	*out = b
	m.moved -= int64(n)
	return nil
}
