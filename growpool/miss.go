package growpool

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// A miss is a request that finds no buffer, or too small a buffer. It takes these
// steps, and a step that fails undoes the steps before it:
//
//  1. detach    the key's old buffer goes first, so that the pool never has both
//  2. admit     the cache says whether the key may keep the new buffer
//  3. reserve   the budget counts its bytes
//  4. allocate  the slab.Pool has the memory, perhaps after a collection, for a lease
//     perhaps after a wait
//  5. publish   the key gets the buffer
//
// A buffer that the key may not keep is made for a lease or a View alone, and
// skips admit and publish. The caller holds e.mu, which is unlocked while a lease waits.

// obtain returns a buffer of n bytes or more, with a reference for the caller.
// It is for a lease if wait is not noWait: the budget then has to count it even if the key may
// not keep it, and it waits for memory until wait is done.
func (p *Pool[K]) obtain(wait patience, e *entry[K], n int) (*buffer, error) {
	if b := e.cur.Load(); b != nil && n <= b.size && b.hold() {
		if wait.on != nil {
			if err := b.useOn(wait.on, nil); err != nil { // before the hit counts
				b.drop()
				return nil, err
			}
		}
		p.hit(e)
		return b, nil
	}
	if n == 0 {
		p.hit(e)
		return newBuffer(0, p.budget, e), nil // without memory, and not the key's
	}
	return p.miss(wait, e, n)
}

// hit counts a request that found room, and tells the cache. A miss asks the
// cache anyway.
func (p *Pool[K]) hit(e *entry[K]) {
	e.hits.add()
	if p.policy != nil {
		p.policy.touch(e.id)
	}
}

func (p *Pool[K]) miss(wait patience, e *entry[K], n int) (*buffer, error) {
	if int64(n) > p.budget.max {
		return nil, p.budget.refusal(n)
	}
	old, have := p.detach(e)
	done := false
	defer func() { // also if Config.Growth or the device panics
		if !done {
			p.reattach(e, old, have)
		}
	}()
	b, err := p.build(wait, e, have, n)
	if err != nil {
		return nil, err
	}
	done = true
	if have > 0 {
		e.grows.Add(1)
	} else {
		e.misses.Add(1)
	}
	if old != nil {
		old.apply(replace)
	}
	return b, nil
}

// detach takes the buffer from its key, and returns the buffer if Get has shown
// it. If not, its memory is already back. have is its size, 0 if the key had none.
func (p *Pool[K]) detach(e *entry[K]) (old *buffer, have int) {
	b := e.cur.Load()
	if b == nil {
		return nil, 0
	}
	do := b.change(detach)
	if do&unlink == 0 {
		return nil, 0 // an eviction was faster
	}
	e.cur.Store(nil)
	b.perform(do)
	if b.state() != aside {
		return nil, b.size
	}
	return b, b.size
}

// reattach undoes detach. The key goes without a buffer if others took the
// room in between, or Close came while a lease waited.
func (p *Pool[K]) reattach(e *entry[K], old *buffer, have int) {
	open := !p.closed.Load()
	switch {
	case open && old != nil && p.budget.reserve(old.size):
		p.budget.had(old.size)
		p.expel(e) // the cache does not admit a buffer that it has already
		p.publish(e, old)
		if !p.admit(e, old) {
			p.evict(old)
		}
	case old != nil:
		old.drop()
	case open && have > 0:
		if b, err := p.makeKept(noWait, e, have); err == nil {
			b.drop()
		}
	}
}

// build makes a buffer of the size of the growth policy, if the key may keep that
// size, or else of the size that was asked for.
func (p *Pool[K]) build(wait patience, e *entry[K], have, want int) (*buffer, error) {
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
	b = newBuffer(want, p.budget, e)
	return b, p.allocate(b, nil) // the View's alone: the budget does not count it
}

var errNotKept = fmt.Errorf("the key may not keep it: %w", device.ErrOutOfMemory)

// makeKept makes a buffer that is the key's.
func (p *Pool[K]) makeKept(wait patience, e *entry[K], size int) (*buffer, error) {
	b := newBuffer(size, p.budget, e)
	if !p.admit(e, b) {
		return nil, errNotKept
	}
	if !p.budget.reserve(size) { // leases have the room
		p.expel(e)
		return nil, errNotKept
	}
	done := false
	defer func() {
		if !done {
			p.budget.undo(size)
			p.expel(e)
		}
	}()
	if err := p.allocateOrWait(wait, e, b); err != nil {
		return nil, err
	}
	done = true
	p.budget.had(size)
	if wait != noWait && p.stopped.Load() { // since admit has asked: it is the lease's alone
		p.expel(e)
		b.apply(lend)
		return b, nil
	}
	p.publish(e, b)
	return b, nil
}

// makeLeased makes a buffer that a lease has and no key.
func (p *Pool[K]) makeLeased(wait patience, e *entry[K], size int) (*buffer, error) {
	b := newBuffer(size, p.budget, e)
	if !p.reserveEvicting(e, size) {
		return nil, p.budget.refusal(size)
	}
	done := false
	defer func() {
		if !done {
			p.budget.undo(size)
		}
	}()
	if err := p.allocateOrWait(wait, e, b); err != nil {
		return nil, err
	}
	done = true
	p.budget.had(size)
	b.apply(lend)
	return b, nil
}

// publish gives the key its buffer, unless the cache has dropped the buffer meanwhile.
func (p *Pool[K]) publish(e *entry[K], b *buffer) {
	e.cur.Store(b)
	if b.apply(keep)&unlink != 0 {
		e.cur.CompareAndSwap(b, nil)
	}
}
