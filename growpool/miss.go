package growpool

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bufslab/bufslab/device"
)

// A miss is a request that finds no buffer, or too small a one. It takes these
// steps, and a step that fails undoes those before it:
//
//  1. detach    what the key has goes first, so that the pool never has both
//  2. admit     the cache says whether the key may keep the new buffer
//  3. reserve   the budget counts its bytes
//  4. allocate  the slab.Pool has the memory, perhaps after a collection, for a lease
//     perhaps after a wait
//  5. publish   it is the key's
//
// A buffer that the key may not keep is made for a lease or a View alone, and
// skips admit and publish. The caller holds e.mu, which is unlocked while a lease waits.

// obtain returns a buffer of n bytes or more, with a reference for the caller.
// It is for a lease if wait is not noWait: the budget then has to count it even if the key may
// not keep it, and it waits for memory until wait is done.
func (p *Pool[K]) obtain(wait context.Context, e *entry[K], n int) (*buffer, error) {
	if b := e.cur.Load(); b != nil && n <= b.size && b.hold() {
		p.hit(e)
		return b, nil
	}
	return p.miss(wait, e, n)
}

// hit counts a request that found room, and tells the cache of it. A miss asks
// the cache anyway.
func (p *Pool[K]) hit(e *entry[K]) {
	e.hits.add()
	if p.policy != nil {
		p.policy.touch(e.id)
	}
}

func (p *Pool[K]) miss(wait context.Context, e *entry[K], n int) (*buffer, error) {
	if int64(n) > p.budget.max {
		return nil, p.budget.refusal(n)
	}
	old, have := p.detach(e)
	b, err := p.build(wait, e, have, n)
	if err != nil {
		p.reattach(e, old, have)
		return nil, err
	}
	if have > 0 {
		e.grows++
	} else {
		e.misses++
	}
	if old != nil {
		old.apply(replace)
	}
	return b, nil
}

// detach takes the buffer from its key, and returns it if Get has shown it. If
// not, its memory is already back. have is its size, 0 if the key had none.
func (p *Pool[K]) detach(e *entry[K]) (old *buffer, have int) {
	b := e.cur.Load()
	if b == nil || b.apply(detach)&unlink == 0 {
		return nil, 0 // an eviction was faster
	}
	e.cur.Store(nil)
	if b.state() != aside {
		return nil, b.size
	}
	return b, b.size
}

// reattach undoes detach. The key goes without a buffer if others took the
// room in between.
func (p *Pool[K]) reattach(e *entry[K], old *buffer, have int) {
	switch {
	case old != nil && p.budget.reserve(old.size):
		p.publish(e, old)
		if !p.admit(e, old) {
			p.evict(old)
		}
	case old != nil:
		old.drop()
	case have > 0:
		if b, err := p.makeKept(noWait, e, have); err == nil {
			b.drop()
		}
	}
}

// build makes a buffer as large as the growth policy says, if the key may keep
// one of that size, or else as large as it has to be.
func (p *Pool[K]) build(wait context.Context, e *entry[K], have, want int) (*buffer, error) {
	if size := p.config.Growth(have, want); size > want && int64(size) <= p.budget.max {
		if b, err := p.makeKept(noWait, e, size); !outOfMemory(err) {
			return b, err
		}
	}
	b, err := p.makeKept(wait, e, want)
	switch {
	case !errors.Is(err, errNotKept):
		return b, err
	case wait != noWait:
		return p.makeLeased(wait, e, want)
	}
	b = p.newBuffer(e, want)
	return b, p.allocate(b) // the View's alone: the budget does not count it
}

var errNotKept = fmt.Errorf("the key may not keep it: %w", device.ErrOutOfMemory)

// makeKept makes a buffer that is the key's.
func (p *Pool[K]) makeKept(wait context.Context, e *entry[K], size int) (*buffer, error) {
	b := p.newBuffer(e, size)
	if !p.admit(e, b) {
		return nil, errNotKept
	}
	if !p.budget.reserve(size) { // leases have the room
		p.expel(e)
		return nil, errNotKept
	}
	if err := p.allocateOrWait(wait, e, b); err != nil {
		p.budget.free(size)
		p.expel(e)
		return nil, err
	}
	p.publish(e, b)
	return b, nil
}

// makeLeased makes a buffer that is a lease's alone.
func (p *Pool[K]) makeLeased(wait context.Context, e *entry[K], size int) (*buffer, error) {
	b := p.newBuffer(e, size)
	if !p.reserveEvicting(e, size) {
		return nil, p.budget.refusal(size)
	}
	if err := p.allocateOrWait(wait, e, b); err != nil {
		p.budget.free(size)
		return nil, err
	}
	b.apply(lend)
	return b, nil
}

func (p *Pool[K]) newBuffer(e *entry[K], size int) *buffer {
	return newBuffer(size, p.budget, e)
}

// admit asks the cache whether the key may keep b, and evicts what has to go
// for it. After StopHolding no key may.
func (p *Pool[K]) admit(e *entry[K], b *buffer) bool {
	if p.stopped.Load() {
		return false
	}
	if p.policy == nil {
		return true
	}
	evicted, ok := p.policy.admit(e.id, b, int64(b.size)+p.budget.perKey)
	p.evictAll(evicted)
	return ok
}

// expel undoes admit.
func (p *Pool[K]) expel(e *entry[K]) {
	if p.policy != nil {
		p.evictAll(p.policy.remove(e.id))
	}
}

// reserveEvicting reserves bytes for a buffer in use. It evicts idle buffers of
// other keys until there is room or none is left.
func (p *Pool[K]) reserveEvicting(e *entry[K], size int) bool {
	for !p.budget.reserve(size) {
		if !p.evictIdle(e) {
			return p.budget.reserve(size)
		}
	}
	return true
}

// candidates is how many idle buffers evictIdle looks at. A budget of no more is
// served exactly; of more, the least used of that many is about the least used of all.
const candidates = 64

// evictIdle evicts, of the idle buffers that it comes by, that of the key with the fewest
// requests. The cache only compares a key with few others, and not on demand; by
// the order of the table a scan with leases would empty it.
func (p *Pool[K]) evictIdle(e *entry[K]) bool {
	var least *entry[K]
	var buf *buffer
	fewest, seen := int64(math.MaxInt64), 0
	for x := range p.table.all() {
		b := x.cur.Load()
		if x == e || b == nil || !b.idle() {
			continue
		}
		if n := x.hits.load(); n < fewest {
			least, buf, fewest = x, b, n
		}
		if seen++; seen == candidates {
			break
		}
	}
	if least == nil {
		return false
	}
	p.expel(least)
	p.evict(buf)
	return true
}

// allocate gets the memory. It runs the collector first if much was left to
// it, and again if there is no room: memory that Get has shown comes back by no
// other way.
func (p *Pool[K]) allocate(b *buffer) error {
	l := &p.budget.left
	l.relieve()
	err := b.fill(p.slab.Get)
	if !outOfMemory(err) || l.since.Load() == 0 { // or Views have what was left
		return err
	}
	for range 2 { // a finalizer may run after we have looked
		l.collect()
		if err = b.fill(p.slab.Get); !outOfMemory(err) {
			return err
		}
	}
	return err
}

// publish gives the key its buffer, unless the cache has let go of it meanwhile.
func (p *Pool[K]) publish(e *entry[K], b *buffer) {
	e.cur.Store(b)
	if b.apply(keep)&unlink != 0 {
		e.cur.CompareAndSwap(b, nil)
	}
}
