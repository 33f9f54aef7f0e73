package slab

import (
	"fmt"
	"runtime"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Get returns a buffer of size bytes with undefined contents. Size 0 gives an empty
// buffer without a call upstream. The error wraps ErrSize for a negative size,
// ErrClosed after Close, and for a Pool that Open did not return. It is an
// *OutOfMemoryError where there is no room though all held memory was given back and all
// streams that use released memory were waited for; nothing changes then. Until something changes
// a further Get of the class that a Limit refused fails at once, for at least as many bytes.
func (p *Pool) Get(size int) (PooledBuffer, error) {
	if !p.isOpened() {
		return PooledBuffer{}, errNotOpened
	}
	q := p.pool
	class := q.cache.Class(size) // before the branch: below it the compiler would compute it after Pin
	if uint(size-1) >= uint(q.direct) {
		return p.get(size)
	}
	on := q.cache.Pin()
	c := q.cache.At(on.ID(), class)
	if c.Enter() {
		if at := c.Top(); at.Slot.Len() >= size {
			e := c.Take(at, size)
			c.Leave()
			q.cache.Unpin(on)
			return lend(e, size), nil
		}
	}
	c.Leave()
	e, stands := q.cache.Retry(on.ID(), class, size)
	q.cache.Unpin(on)
	if e.Slot == nil {
		return p.miss(size, class)
	}
	return q.hand(e, size, stands, fully)
}

// get is Get where a hit has more to do, or where no cache takes the size. The Pool must stay reachable
// until get returns: with no room the collector runs, and could find the Pool forgotten. Keep the test
// of the size here. If it moves to getNow, the compiler inlines get into Get, and a hit takes four more
// instructions.
func (p *Pool) get(size int) (b PooledBuffer, err error) {
	if q := p.pool; q.cache.Caches(size) {
		b, err = q.getNow(size, fully)
	} else {
		b, err = q.get(size, q.cache.Uncached(), fully)
	}
	runtime.KeepAlive(p)
	return b, err
}

// miss is Get when the processor's caches had no block. It keeps p reachable, as get does.
func (p *Pool) miss(size, class int) (PooledBuffer, error) {
	b, err := p.pool.get(size, class, fully)
	runtime.KeepAlive(p)
	return b, err
}

// getNow is Get with an effort. It looks in the processor's caches first.
func (p *pool) getNow(size int, how effort) (PooledBuffer, error) {
	class, _ := p.cache.Fit(size)
	if e, stands := p.cache.RetryPinned(class, size); e.Slot != nil {
		return p.hand(e, size, stands, how)
	}
	return p.get(size, class, how)
}

// get is Get where no class cache has a block. If nothing has changed since such a Get has failed, it fails.
func (p *pool) get(size, class int, how effort) (b PooledBuffer, err error) {
	if p.refuses() {
		return b, ErrClosed
	}
	if size < 0 {
		return b, fmt.Errorf("slab: Get of %d bytes: %w", size, ErrSize)
	}
	if how >= atOnce { // the others are tries of calls that wait
		if err := p.refusedBefore(size, class); err != nil {
			return p.orMake(size, how, p.again(err, size, class))
		}
	}
	if b, err = p.seek(size, class, how); err == nil {
		p.changed()
	}
	return b, err
}

// seek asks the depot, and then the strategy.
func (p *pool) seek(size, class int, how effort) (PooledBuffer, error) {
	if class < p.cache.Uncached() {
		if e, stands := p.refill(class, size); e.Slot != nil {
			p.held.note()
			p.notePeak(size)
			return p.hand(e, size, stands, how)
		}
	}
	if size > 0 {
		p.sweep()
	}
	ask := p.ask(size, class) // by now: refill may have changed it
	if e, stands := p.atHand(ask, class, size); e.Slot != nil {
		p.notePeak(size)
		b, err := p.hand(e, size, stands, how)
		p.keepWithinHeldBeside(b)
		return b, err
	}
	return p.getFresh(size, ask, class, how)
}

// getFresh is get when the strategy has no free block at hand.
func (p *pool) getFresh(size, ask, class int, how effort) (PooledBuffer, error) {
	if how != again { // a call that leads a queue, or looks once more, would wake itself
		defer p.wake()
	}
	out := p.askPeak(size)
	e, stands, err := p.fresh(ask, class, size, how)
	if ask > size && outOfMemory(err) { // there may be room for the size alone
		e, stands, err = p.fresh(size, p.cache.Uncached(), size, how)
	}
	var r refusal
	if how >= fully && outOfMemory(err) {
		r = p.watchLimit(class, err)
		e, stands, err = p.besideOthers(size, err)
	}
	if err != nil {
		return p.orMake(size, how, p.refused(size, ask, r, err))
	}
	p.peak.raise(min(out, p.accounting.Peak()))
	p.notePeak(size)
	b, err := p.hand(e, size, stands, how)
	p.keepWithinHeldBeside(b)
	return b, err
}

// refused returns the error of a Get that the strategy has refused with err, and notes it in r.
func (p *pool) refused(size, ask int, r refusal, err error) error {
	if !outOfMemory(err) {
		return err
	}
	s := p.stats().bounded()
	e := &OutOfMemoryError{size, ask, s.HeldBytes, s.ActiveBytes, err, p.config.Name, p.unwatchedBytes(s)}
	p.noteRefusal(r, e)
	return e
}

// failed is fail, unless the caller has more to try. It returns err.
func (r *room) failed(err error, how effort) error {
	if how >= fully {
		r.fail(err)
	}
	return err
}

// refill returns a block of the depot, if it has one, and the share in the profile from percpu's Refill.
func (p *pool) refill(class, size int) (e handle.Entry, stands float64) {
	if p.guard.InTurn() {
		return e, 0
	}
	defer p.changed() // the rest of a magazine may have gone to the strategy
	return p.cache.Refill(class, size)
}

// besideOthers tries again while other calls run: a block that another call has taken out of a cache
// may not have reached the strategy yet.
func (p *pool) besideOthers(size int, err error) (e handle.Entry, stands float64, _ error) {
	for tries := 0; tries < mostTries && outOfMemory(err); tries++ {
		before := p.cache.Served()
		runtime.Gosched()
		e, stands, err = p.fresh(size, p.cache.Uncached(), size, again)
		if after := p.cache.Served(); before == after {
			break
		}
	}
	return e, stands, err
}

// mostTries bounds how often a Get looks again.
const mostTries = 8

// lend makes the first size bytes of a block a handle.
func lend(e handle.Entry, size int) PooledBuffer {
	handle.TakenOver(e, size)
	return PooledBuffer{slot: e.Slot, ptr: e.Mem, gen: e.Slot.Lend(size), n: size}
}

// handOut makes a block a handle, for a Get that counts for stands Gets in the profile, and tells those who look on.
func (l *lending) handOut(e handle.Entry, size int, stands float64, how effort) PooledBuffer {
	b := lend(e, size)
	if stands > 0 {
		l.profile.Sample(b.slot, b.n, stands)
	}
	switch {
	case !l.leaks.SeesAll():
	case how == growing:
		l.leaks.GotToGrow(b.slot, b.gen, b.n)
	default:
		l.leaks.Got(b.slot, b.gen, b.n)
	}
	return b
}

// hand is handOut with all steps of a Get.
func (p *pool) hand(e handle.Entry, size int, stands float64, how effort) (PooledBuffer, error) {
	b := p.handOut(e, size, stands, how)
	if p.config.Zero {
		return zero(b, p.upstream)
	}
	return b, nil
}

// keepWithinHeldBeside is keepWithinHeld in a Get that already has b: if the upstream panics b goes back.
func (p *pool) keepWithinHeldBeside(b PooledBuffer) {
	if p.held.bytes > 0 {
		p.keepWithinBoundBeside(b)
	}
}

func (p *pool) keepWithinBoundBeside(b PooledBuffer) {
	done := false
	defer func() {
		if !done {
			b.discard()
		}
	}()
	p.keepWithinBound()
	done = true
}
