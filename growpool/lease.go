package growpool

import (
	"context"
	"sync/atomic"
)

// A Lease is a View that nobody else has, until Release. Its memory can go
// back to the slab.Pool then, so slices of it are not to be used after.
//
// Release is safe for concurrent use; all else is for one goroutine at a time.
type Lease[T any] struct {
	View[T]
	from  lessor
	entry any // of the key, nil if the buffer is the lease's own
	lent  *buffer
	over  atomic.Bool
}

// A lessor is a Pool of whatever keys.
type lessor interface {
	takeBack(entry any, b *buffer)
}

// Acquire is [Get] for keys that several goroutines use: the key's buffer is the
// caller's alone until Release. While somebody has it, Acquire waits, first come
// first served, or until ctx is done, whose error it returns then; with
// Config.Private it takes a buffer of its own instead. Get fails meanwhile.
//
// Errors are those of Get, except ErrLeased. With a budget the memory of leases counts
// before that of keys which are not in use: those lose theirs.
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := p.enter(key)
	if err != nil {
		return nil, err
	}
	defer p.done(e)
	if e.turn.taken && p.config.Private {
		return private[T](p, e, t, d, shape)
	}
	if err := p.wait(ctx, e); err != nil {
		return nil, err
	}
	b, err := p.lend(e, t, d)
	if err != nil {
		e.turn.pass()
		return nil, err
	}
	return newLease[T](p, e, b, newView[T](e, b, d, shape)), nil
}

// wait returns when it is the caller's turn with an entry, which is locked before and
// after, not while it waits.
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

// lend obtains the buffer of a key for a lease.
func (p *Pool[K]) lend(e *entry[K], t element, d dims) (*buffer, error) {
	if b := e.cur.Load(); b != nil {
		b.hide()
	}
	b, err := p.obtain(e, d.n*int(t.size), true)
	if err != nil {
		return nil, err
	}
	if err := t.checkAt(b.ptr); err != nil {
		b.drop()
		return nil, err
	}
	return b, nil
}

// private returns a lease of a buffer that is no key's.
func private[T any, K comparable](p *Pool[K], e *entry[K], t element, d dims, shape []int) (*Lease[T], error) {
	b := p.newBuffer(e, d.n*int(t.size))
	if !p.shed(e, b) {
		return nil, p.budget.refusal(b.size)
	}
	err := b.fillPatiently(p.slab)
	if err == nil {
		if err = t.checkAt(b.ptr); err == nil {
			e.misses++
			return newLease[T](p, nil, b, newView[T](e, b, d, shape)), nil
		}
	}
	b.drop()
	return nil, err
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
// nothing from then on. A second Release returns ErrReleased and does nothing.
func (l *Lease[T]) Release() error {
	if l.over.Swap(true) {
		return ErrReleased
	}
	l.View = View[T]{}
	l.from.takeBack(l.entry, l.lent)
	return nil
}

func (p *Pool[K]) takeBack(entryOfKey any, b *buffer) {
	p.leases.Add(-1)
	e, ok := entryOfKey.(*entry[K])
	if !ok {
		b.drop()
		return
	}
	e.mu.Lock()
	b.drop()
	e.turn.pass()
	p.done(e)
}
