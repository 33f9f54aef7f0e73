package slab

import (
	"runtime"

	"github.com/bufslab/bufslab/internal/pin"
)

// Before a large block is allocated anew, one that lies in another processor's
// magazine will do. Nobody but that processor may touch it, so its magazine is
// shut for as long as that takes: a barrier, 1 to 60 us. What is released there
// meanwhile is put aside.

const (
	// robFrom is the least size worth a barrier: to touch as much new memory
	// takes about as long.
	robFrom = 256 << 10
	// robMost is how many misses of a class on a processor may take a block from
	// others before one has to allocate. So a program that moves blocks
	// between processors soon has as many as it takes for whole batches to go
	// round, and robs no more.
	robMost = 15
)

// rob returns a block of the class, or of so many above, out of a magazine of
// some other processor.
func (k *core) rob(class, above, size int) (e entry, ok bool) {
	c := &k.cache
	id, ok := c.mayRob(class)
	if !ok {
		return e, false
	}
	for !c.shutting.TryLock() { // the magazines may be open again any moment
		if e, ok = c.again(class, 2*above, size); ok {
			return e, true
		}
		runtime.Gosched()
	}
	defer c.shutting.Unlock()
	if e, ok = c.again(class, 2*above, size); ok {
		return e, true
	}
	for at := class; at <= class+above && at < c.uncached(); at++ {
		for i := range c.shards {
			if e, ok = c.robShard(&c.shards[(id+1+i)%len(c.shards)], at); ok {
				c.countGet(size)
				return e, true
			}
		}
	}
	return e, false
}

// mayRob tells whether a miss of the class may be served by others, and the
// number of the processor whose miss it is.
func (k *cache) mayRob(class int) (id int, ok bool) {
	id = k.enter()
	s := k.shard(id)
	if s != nil {
		m := &s.mags[class]
		m.misses++
		ok = m.misses%(robMost+1) != 0
	}
	s.done()
	k.leave(id)
	return id, ok
}

// robShard takes a block out of a magazine of s. The caller holds shutting.
func (k *cache) robShard(s *shard, class int) (e entry, ok bool) {
	m := &s.mags[class]
	if pin.Exclusive && m.n() == 0 { // a guess: it is not synchronised
		return e, false
	}
	if k.seize(s, m) {
		e, ok = m.lose()
		k.yield(s, m)
	}
	return e, ok
}

// lose takes a block out that no Get of the processor's own has asked for. The magazine is seized.
func (m *magazine) lose() (e entry, ok bool) {
	n := m.n()
	if n == 0 {
		return e, false
	}
	at := &m.loaded.entries[n-1]
	e, *at = *at, entry{}
	e.s.unmark()
	m.setN(n - 1)
	m.moved--
	return e, true
}
