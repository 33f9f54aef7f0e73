package growpool

import (
	"context"
	"sync/atomic"
)

// A Lease is a View that is its holder's alone, until Release. Its memory can go
// back to the slab.Pool then, so do not use slices of it afterwards.
//
// Release is safe for concurrent use; all else is for one goroutine at a time.
type Lease[T any] struct {
	View[T]
	from     lessor
	entry    any // of the key, nil if the buffer is the lease's alone
	lent     *buffer
	released atomic.Bool
}

// A lessor is a Pool, whatever its keys are.
type lessor interface {
	takeBack(entry any, b *buffer)
}

// Acquire is [Get] for keys that several goroutines use: the key's buffer is the
// caller's alone until Release. While the key is leased, Acquire waits, first come
// first served. If ctx is done first it returns its error; a nil ctx never is. With Config.Private
// it makes a buffer for this lease alone instead. Get fails meanwhile.
//
// Where the slab.Pool has no room, Acquire waits for memory until ctx is done, as
// [slab.Pool.GetContext] does and in the same queue; the error is then a *[slab.WaitError].
// For room in Config.MaxBytes it does not wait.
//
// Errors are those of Get, except ErrLeased. With a budget, keys that are not in use
// lose their buffers if a lease needs the room.
//
// A buffer that was only ever acquired goes back to the slab.Pool at once when a larger one
// has to take its place. Views that Get returned before Acquire see the lease's
// memory; it is best to use one or the other for a key.
func Acquire[T any, K comparable](ctx context.Context, p *Pool[K], key K, shape ...int) (*Lease[T], error) {
	t := elementOf[T]()
	d, err := judge(t, shape)
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := p.lock(key)
	if err != nil {
		return nil, err
	}
	defer p.unlock(e)
	if e.turn.taken && p.config.Private {
		return private[T](ctx, p, e, t, d, shape)
	}
	if err := p.wait(ctx, e); err != nil {
		return nil, err
	}
	lent := false
	defer func() { // also if Config.Growth or the device panics
		if !lent {
			e.turn.pass()
		}
	}()
	b, err := p.lend(ctx, e, t, d)
	if err != nil {
		return nil, err
	}
	lent = true
	return newLease[T](p, e, b, newView[T](e, b, d, shape)), nil
}

// wait returns when it is the caller's turn with an entry. The caller holds
// e.mu; wait unlocks it while it waits.
func (p *Pool[K]) wait(ctx context.Context, e *entry[K]) error {
	if !e.turn.taken {
		e.turn.taken = true
		return nil
	}
	w := e.turn.join()
	e.mu.Unlock()
	var err error
	select {
	case <-w:
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.mu.Lock()
	if err == nil && p.closed.Load() {
		err = ErrClosed
	}
	if err != nil {
		e.turn.leave(w)
	}
	return err
}

// lend obtains the buffer of a key for a lease. It hides it from Get first: no
// Get hands it out until a later Get has shown it again under e.mu.
func (p *Pool[K]) lend(ctx context.Context, e *entry[K], t element, d dims) (*buffer, error) {
	if b := e.cur.Load(); b != nil {
		b.hide()
	}
	b, err := p.obtain(ctx, e, d.n*int(t.size))
	if err != nil {
		return nil, err
	}
	if err := t.checkAt(b.ptr); err != nil {
		b.drop()
		return nil, err
	}
	return b, nil
}

// private returns a lease of a buffer that is the lease's alone.
func private[T any, K comparable](ctx context.Context, p *Pool[K], e *entry[K], t element, d dims, shape []int) (*Lease[T], error) {
	b, err := p.makeLeased(ctx, e, d.n*int(t.size))
	if err != nil {
		return nil, err
	}
	if err := t.checkAt(b.ptr); err != nil {
		b.drop()
		return nil, err
	}
	if e.dead { // the key was let go of while this one waited for memory
		p.remember(KeyStats{Misses: 1})
	}
	e.misses.Add(1)
	return newLease[T](p, nil, b, newView[T](e, b, d, shape)), nil
}

// newLease takes over the caller's reference to b.
func newLease[T any, K comparable](p *Pool[K], e *entry[K], b *buffer, v View[T]) *Lease[T] {
	p.leases.Add(1)
	l := &Lease[T]{View: v, from: p, lent: b}
	if e != nil {
		l.entry = e
	}
	return l
}

// Release ends the lease: the next in line has the buffer. The Lease shows
// nothing from then on. A second Release returns ErrReleased and does nothing, and so
// does that of a nil or zero Lease.
func (l *Lease[T]) Release() error {
	if l == nil || l.from == nil || l.released.Swap(true) {
		return ErrReleased
	}
	l.View = View[T]{}
	l.from.takeBack(l.entry, l.lent)
	return nil
}

func (p *Pool[K]) takeBack(entryOfKey any, b *buffer) {
	p.leases.Add(-1)
	if p.stopped.Load() {
		defer p.slab.FreeHeld()
	}
	e, ok := entryOfKey.(*entry[K])
	if !ok {
		b.drop()
		return
	}
	e.mu.Lock()
	defer p.unlock(e) // both also if the Release panics
	defer e.turn.pass()
	b.drop()
}
