package slab

import "github.com/bufslab/bufslab/internal/pin"

// drain empties all magazines and the depot, or only what was not used since
// the last drain, and gives the blocks back to the strategy. It reports whether
// there were any. The caller holds giving.
//
// No lock guards a shard: its magazines' limits are made negative, and after a
// fence nobody is left on it who has seen them otherwise.
func (k *core) drain(idle bool) (any bool) {
	c := &k.cache
	if c.largest == 0 {
		return false
	}
	c.rebiasAll()
	spill := c.depot.drain(idle, c.sizeOf, nil)
	if c.worthDraining(idle) {
		spill = c.emptyAll(idle, spill)
	}
	for _, e := range spill {
		k.giveBack(e)
	}
	if idle && len(spill) > 0 && k.overHeld() {
		k.drain(false) // the rest may keep the slabs of these
	}
	return len(spill) > 0
}

func (k *cache) emptyAll(idle bool, spill []entry) []entry {
	k.shutting.Lock()
	defer k.shutting.Unlock()
	k.shut()
	defer k.open()
	for i := range k.shards {
		spill = k.empty(&k.shards[i], idle, spill)
	}
	return spill
}

func (k *cache) sizeOf(class int) int64 { return int64(k.grid.Size(class)) }

// stop makes the caches keep nothing from now on.
func (k *cache) stop() {
	k.depot.stopped.Store(true)
	k.shutting.Lock()
	defer k.shutting.Unlock()
	k.shut()
}

// shut keeps everybody off the magazines until open.
func (k *cache) shut() {
	for i := range k.mags {
		k.mags[i].invert(func(limit int32) bool { return limit >= 0 })
	}
	k.fence()
}

// open lets the magazines be used again, unless the caches were stopped.
func (k *cache) open() {
	if k.depot.stopped.Load() {
		return
	}
	for i := range k.mags {
		k.mags[i].invert(func(limit int32) bool { return limit < 0 })
	}
}

// invert shuts or opens a magazine that is to be.
func (m *magazine) invert(is func(limit int32) bool) {
	for {
		limit := m.limit.Load()
		if !is(limit) || m.limit.CompareAndSwap(limit, ^limit) {
			return
		}
	}
}

// worthDraining spares a drain that would find nothing the fence: then it only
// notes the hits. It looks without synchronisation, so what is released
// meanwhile may be missed.
func (k *cache) worthDraining(idle bool) bool {
	if !pin.Exclusive {
		return true
	}
	for i := range k.mags {
		if m := &k.mags[i]; m.stale(idle) && m.n()+int32(m.nspare) > 0 {
			return true
		}
	}
	for i := range k.mags {
		k.mags[i].look()
	}
	return false
}

// stale reports whether a drain takes what is in m: all, or what nobody has
// touched since the last one. look is what one that leaves it does.
func (m *magazine) stale(idle bool) bool { return !idle || m.seen == m.hits() }
func (m *magazine) look()                { m.seen = m.hits() }

// empty takes out of the magazines of a shard, which are shut, what is stale.
func (k *cache) empty(s *shard, idle bool, spill []entry) []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.mags {
		m := &s.mags[i]
		if m.stale(idle) {
			limit := ^m.limit.Swap(^0)
			for b := k.strip(s, i, limit); b != nil; b = b.next {
				spill = append(spill, b.entries[:b.n]...)
			}
		}
		m.look()
	}
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
			n := int64(m.n()) + int64(m.nspare)
			cached.blocks += n
			cached.bytes += n * k.sizeOf(j)
			got, put := m.counts(n)
			gets += got
			puts += put
			asked += m.asked
		}
		gets += s.gets
		puts += s.puts
		asked += s.asked
		s.mu.Unlock()
	}
	return cached, gets, puts, asked
}

// counts tells the hits of a magazine with n blocks apart: what batches have
// not moved came by Release and went by Get.
func (m *magazine) counts(n int64) (gets, puts int64) {
	hits, more := int64(m.state>>loadedBits), n-m.moved
	return (hits - more) / 2, (hits + more) / 2
}
