package slab

import (
	"errors"
	"runtime"

	"github.com/bufslab/bufslab/internal/replaying"
)

// A pool that a trace is replayed on has processors and a clock that the replay moves,
// and does not hear of collections; see internal/replaying.

func init() { replaying.Reopen, replaying.Extents = reopen, extents }

// reopen closes a pool down to its upstream, and opens it again for a replay. The device
// stays open, for the new pool.
func reopen(front any, processors int) (replaying.Machine, error) {
	p := front.(*Pool)
	if !p.isOpened() {
		return replaying.Machine{}, errNotOpened
	}
	old := p.pool
	switch {
	case old.closed.Load():
		return replaying.Machine{}, ErrClosed
	case old.stats().ActiveBlocks != 0:
		return replaying.Machine{}, errors.New("slab: a replay wants a pool that has no buffers out")
	}
	config := old.config
	config.processors, old.config.device = processors, nil
	config.Zero = false // nobody reads the memory, and there may be none
	if err := p.Close(); err != nil {
		return replaying.Machine{}, err
	}
	q := &pool{config: config}
	if err := q.open(); err != nil {
		return replaying.Machine{}, errors.Join(err, config.closeDevice())
	}
	p.pool = q
	runtime.AddCleanup(p, (*pool).abandon, q)
	m := replaying.Machine{RunOn: q.cache.RunOn, Uncached: q.cache.Passed, SetTime: q.cache.SetTime}
	if q.clock.Ticks() {
		m.Advance = q.clock.Advance
	}
	return m, nil
}

// extents returns the extents of the page heap of a pool, if its strategy has one.
func extents(front any) ([]replaying.Extent, bool) {
	heap, has := heapOf[interface{ Extents() []replaying.Extent }](front.(*Pool).opened())
	if !has {
		return nil, false
	}
	return heap.Extents(), true
}
