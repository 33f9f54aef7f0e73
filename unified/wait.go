package unified

import (
	"context"
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// How an Acquire waits for memory.
//
// A call that has the memory of one side and waits for that of the other may keep another call from
// its own: where both sides draw on one budget, two such calls would wait for each other. So a call
// first tries for both sides without a wait, and lets go of what it has if that fails. Then it
// queues for the turn of its pool, and only the call that has the turn waits with something in hand.

// AcquireContext is [Acquire] that takes the memory of both sides now, and waits for it where there
// is no room, until ctx is done, as [slab.Pool.GetContext] does and in the same queues. No access of
// the buffer fails for want of room then. A buffer that the pool keeps may have the memory already.
//
// Calls for one Pool that have to wait take turns, first come first served. Two Pools on one
// [slab.Limit] that has both sides may wait for each other, until a ctx is done; so may one Pool whose
// Limit has no room for both sides at once: give each ctx a deadline.
//
// If ctx is done the error wraps that of ctx, and [device.ErrOutOfMemory] if there was no room; with
// a ctx that was done before the call nothing is tried. Else errors are those of Acquire, of the
// accesses that would take the memory, and of GetContext. The pool and its Stats are then as before,
// but for what it gave back to make room. A nil ctx is never done.
func AcquireContext[T any](ctx context.Context, p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesBoth(ctx), false, shape)
}

// AcquirePinnedContext is AcquireContext for a buffer as [NewPinned] makes it.
func AcquirePinnedContext[T any](ctx context.Context, p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesBoth(ctx), true, shape)
}

// takesNothing is what Acquire does about memory: the first access of a side takes it.
func takesNothing(*pool, *array) error { return nil }

// takesBoth is what AcquireContext does about memory.
func takesBoth(ctx context.Context) func(*pool, *array) error {
	if ctx == nil {
		ctx = context.Background()
	}
	return func(p *pool, a *array) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.bytes() == 0 {
			return nil
		}
		err := a.provideBoth(func(d side) error { return a.provide(d, nil) })
		if !errors.Is(err, device.ErrOutOfMemory) {
			return err
		}
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("unified: other calls wait for memory: %w: %w", ctx.Err(), err)
		}
		defer func() { <-p.turn }()
		return a.provideBoth(func(d side) error { return a.provideWaiting(ctx, d) })
	}
}

// provideBoth sees to it that both sides have memory. If that fails none has that had none before.
func (a *array) provideBoth(provide func(side) error) error {
	had := a.sides[onDevice].has
	if err := provide(onDevice); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done && !had {
			a.sides[onDevice].release(onDevice)
		}
	}()
	if err := provide(host); err != nil {
		return err
	}
	done = true
	return nil
}

// provideWaiting is provide that waits for memory.
func (a *array) provideWaiting(ctx context.Context, d side) error {
	d = a.place(d)
	m := &a.sides[d]
	if m.has {
		return nil
	}
	p, err := a.mem.pool(d, a.pinned)
	if err != nil {
		return err
	}
	if m.buf, err = p.GetContext(ctx, a.n*a.elem); err != nil {
		return err
	}
	if err := a.reaches(m, d); err != nil {
		return err
	}
	a.own(m, d)
	return nil
}
