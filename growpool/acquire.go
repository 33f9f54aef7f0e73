package growpool

import (
	"context"
	"errors"

	"github.com/bufslab/bufslab/device"
)

// Acquire is [Get] for keys that several goroutines use: the key's buffer belongs to the
// caller alone until Release. Get of the key fails meanwhile, and another Acquire waits, first
// come first served. If ctx is done first Acquire returns its error; a nil ctx is never done.
// With Config.Private Acquire does not wait for the key: it makes a buffer for this lease alone.
//
// Where the slab.Pool has no room, Acquire waits for memory until ctx is done, as
// [slab.Pool.GetContext] does and in the same queue; the error is then a *[slab.WaitError].
// For room in Config.MaxBytes it does not wait. Acquire takes the whole shape at once: bound one that a
// peer declares first.
//
// Errors are those of Get, except ErrLeased. With a budget, keys that are not in use
// lose their buffers if a lease needs the room.
//
// A buffer that was only ever acquired goes back to the slab.Pool at once when a larger buffer
// has to take its place. Views that Get returned before Acquire see the lease's memory: use
// either Get or Acquire for a key.
//
// If an earlier lease was used on streams, Acquire waits for their work, until ctx is done: see
// [Lease.UsedOn].
func Acquire[T any, K comparable](ctx context.Context, p *Pool[K], key K, shape ...int) (*Lease[T], error) {
	return acquireWith[T](patience{ctx: ctx}, p, key, shape)
}

// AcquireOn is Acquire for a buffer that only work on s will use. The buffer counts as used on s from
// the start: earlier work on s may still use the memory. Any other access to the memory, also by the
// CPU, must wait for s first.
//
// If an earlier lease was used on s, AcquireOn returns at once. If an earlier lease was used on another
// stream, s waits for that stream, and not the caller: if the other stream has failed, so has s. New
// memory comes as from [slab.Pool.GetOn]. For the key, and for room, AcquireOn waits as Acquire does.
//
// Errors are those of Acquire, and the error of s if s cannot wait for another stream. For a nil s the
// error wraps device.ErrUnavailable.
func AcquireOn[T any, K comparable](ctx context.Context, p *Pool[K], key K, s device.Stream, shape ...int) (
	*Lease[T], error,
) {
	if s == nil {
		return nil, errNoStream
	}
	l, err := acquireWith[T](patience{ctx, s}, p, key, shape)
	if err != nil {
		return nil, err
	}
	if err := l.UsedOn(s); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

func acquireWith[T any, K comparable](wait patience, p *Pool[K], key K, shape []int) (*Lease[T], error) {
	t := elementOf[T]()
	d, err := judge(t, shape)
	if err != nil {
		return nil, err
	}
	if wait.ctx == nil {
		wait.ctx = context.Background()
	}
	if err := wait.ctx.Err(); err != nil {
		return nil, err
	}
	if p != nil && p.config.Requested != nil {
		p.request(key, shape, t.size)
	}
	e, err := p.lock(key)
	if err != nil {
		return nil, err
	}
	defer p.unlock(e)
	if e.turn.taken && p.config.Private {
		return private[T](wait, p, e, t, d, shape)
	}
	if err := p.wait(wait.ctx, e); err != nil {
		return nil, err
	}
	lent := false
	defer func() { // also if Config.Growth or the device panics
		if !lent {
			e.turn.pass()
		}
	}()
	b, err := p.lend(wait, e, t, d)
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
func (p *Pool[K]) lend(wait patience, e *entry[K], t element, d dims) (*buffer, error) {
	if b := e.cur.Load(); b != nil {
		b.hide()
	}
	n := d.n * int(t.size)
	if err := p.settle(wait, e, n); err != nil {
		return nil, err
	}
	b, err := p.obtain(wait, e, n)
	if err != nil {
		return nil, err
	}
	if err := t.checkAt(b.ptr); err != nil {
		b.drop()
		return nil, err
	}
	return b, nil
}

// private returns a lease of a buffer that no key has.
func private[T any, K comparable](wait patience, p *Pool[K], e *entry[K], t element, d dims, shape []int) (
	*Lease[T], error,
) {
	if d.n == 0 { // it needs no room, and is the key's request like others
		p.hit(e)
		b := newBuffer(0, p.budget, e)
		return newLease[T](p, nil, b, newView[T](e, b, d, shape)), nil
	}
	b, err := p.makeLeased(wait, e, d.n*int(t.size))
	if err != nil {
		return nil, err
	}
	if err := t.checkAt(b.ptr); err != nil {
		b.drop()
		return nil, err
	}
	if e.dead { // the key was removed while this lease waited for memory
		p.remember(KeyStats{Misses: 1})
	}
	e.misses.Add(1)
	return newLease[T](p, nil, b, newView[T](e, b, d, shape)), nil
}

// With calls f with a lease of the key, as [Acquire] returns it, and releases it when f returns or
// panics. f must not keep the lease, nor slices or blocks of it; it may release the lease earlier. If f
// enqueues work on a stream, it calls [Lease.UsedOn]. With returns the error of f. If Acquire fails,
// With returns that error and does not call f.
//
// It is safe for concurrent use, as the pool is.
func With[T any, K comparable](ctx context.Context, p *Pool[K], key K, shape []int, f func(l *Lease[T]) error) error {
	l, err := Acquire[T](ctx, p, key, shape...)
	if err != nil {
		return err
	}
	defer l.Release()
	return f(l)
}
