package slab

import "github.com/bufslab/bufslab/internal/pin"

// A miss of a large block looks at what other processors have before it goes
// upstream. That takes a fence, so it is done where that is cheap, and only so
// often for each block that did come from upstream: where processors always
// lack what others have, another block is better than stealing all the time.

// thefts is how often. Fresh pages of a large block cost more than as many fences.
const thefts = 8

// steal moves what some processor has of the class, or of so many above, into
// the depot, and returns a block of it.
func (k *core) steal(class, above, size int) (e entry, ok bool) {
	c := &k.cache
	if !cheapFence() || c.stolen.Load() >= thefts*k.ledger.allocs.Load() {
		return e, false
	}
	for j := class; !ok && j <= class+above && j < c.classes; j++ {
		for i := range c.shards {
			k.putAway(j, c.rob(i, j))
		}
		e, ok = k.refill(j, size)
	}
	return e, ok
}

// rob takes all blocks of a class from a processor.
func (k *cache) rob(i, class int) *batch {
	s := &k.shards[i]
	m := &s.mags[class]
	if !s.has(m) {
		return nil
	}
	k.shutting.Lock()
	defer k.shutting.Unlock()
	limit := m.limit.Load()
	if limit <= 0 || !m.limit.CompareAndSwap(limit, ^limit) {
		return nil
	}
	k.fence(k.shards[i:i+1], s.mags[class:class+1])
	s.mu.Lock()
	defer s.mu.Unlock()
	out := k.strip(s, class, limit)
	m.limit.Store(0)
	k.stolen.Add(1)
	return out
}

// has reports whether there are blocks in m, which somebody else may be using
// meanwhile.
func (s *shard) has(m *magazine) bool {
	if !pin.Exclusive {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	return m.n()+int64(m.nspare) > 0
}
