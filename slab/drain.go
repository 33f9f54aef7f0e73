package slab

import "github.com/bufslab/bufslab/internal/pin"

// drain empties all magazines and the depot, or only what was not used since
// the last drain, and gives the blocks back to the strategy. It reports whether
// there were any. The caller holds giving.
//
// No lock guards a shard: its limit is made negative, and after a fence
// nobody is left on it who has seen it otherwise.
func (k *core) drain(idle bool) (any bool) {
	c := &k.cache
	if c.largest == 0 {
		return false
	}
	spill := c.depot.drain(idle, c.sizeOf, nil)
	if c.worthDraining(idle) {
		c.shut()
		for i := range c.shards {
			spill = c.shards[i].take(idle, spill)
		}
		c.open(k.cacheBudget())
	}
	for _, e := range spill {
		k.giveBack(e)
	}
	return len(spill) > 0
}

func (k *cache) sizeOf(class int) int64 { return int64(k.grid.Size(class)) }

// stop makes the caches keep nothing from now on.
func (k *cache) stop() {
	k.stopped.Store(true)
	k.shut()
}

// shut keeps everybody off the magazines until open.
func (k *cache) shut() {
	for i := range k.shards {
		k.shards[i].limit.Store(-1)
	}
	k.fence()
}

// open lets the shards be used again, unless the caches were stopped.
func (k *cache) open(limit int64) {
	if k.stopped.Load() {
		return
	}
	for i := range k.shards {
		k.shards[i].limit.Store(limit)
	}
}

// worthDraining spares a drain that would find nothing the fence. It looks
// without synchronisation, so what is released meanwhile may be missed.
func (k *cache) worthDraining(idle bool) bool {
	if !pin.Exclusive {
		return true
	}
	for i := range k.shards {
		for j := range k.shards[i].mags {
			m := &k.shards[i].mags[j]
			if m.n > 0 || m.spareFull || idle && m.seen != m.uses {
				return true
			}
		}
	}
	return false
}

// take empties the magazines of a shard that is not to be touched by others.
func (s *shard) take(idle bool, spill []entry) []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.mags {
		m := &s.mags[i]
		if !idle || m.seen == m.uses {
			spill = m.take(s, spill)
		}
		m.seen = m.uses
	}
	return spill
}

func (m *magazine) take(s *shard, spill []entry) []entry {
	if m.cap == 0 {
		return spill
	}
	n := len(spill)
	spill = append(spill, m.loaded.entries[:m.n]...)
	clear(m.loaded.entries[:])
	if m.spareFull {
		spill = append(spill, m.spare.entries[:m.cap]...)
		clear(m.spare.entries[:])
	}
	s.bytes -= int64(len(spill)-n) * m.size
	m.n, m.spareFull = 0, false
	return spill
}

// usage adds up what is in magazines and depot, and the counters.
func (k *cache) usage() (cached tally, gets, puts, asked int64) {
	cached = k.depot.usage(k.sizeOf)
	gets, puts, asked = k.beyond.gets.Load(), k.beyond.puts.Load(), k.beyond.asked.Load()
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.Lock()
		for j := range s.mags {
			m := &s.mags[j]
			n := int64(m.n)
			if m.spareFull {
				n += int64(m.cap)
			}
			cached.blocks += n
			cached.bytes += n * m.size
		}
		gets += s.gets
		puts += s.puts
		asked += s.asked
		s.mu.Unlock()
	}
	return cached, gets, puts, asked
}
