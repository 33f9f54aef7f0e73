package unified

import (
	"context"
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// How an Acquire waits for memory.
//
// Where both sides draw on one budget, two calls that each have the memory of one side would wait for
// each other. So a call first tries for both sides without a wait, and gives all memory back if that
// fails. Then it queues for the turn of its pool. Only the call that has the turn waits with memory in
// hand.

// AcquireContext is [Acquire] that takes the memory of both sides now. Where there is no room it waits
// until ctx is done, as [slab.Pool.GetContext] does and in the same queues. Later no access of the
// buffer fails for lack of room. A kept buffer may have the memory already.
//
// Calls for one Pool that have to wait take turns, first come first served. Two Pools on one
// [slab.Limit] for both sides may wait for each other, until a ctx is done. So may one Pool whose Limit
// has no room for both sides at once. Give each ctx a deadline.
//
// If ctx is done the error wraps the error of ctx, and [device.ErrOutOfMemory] if there was no room. If
// ctx was done before the call nothing is tried. Other errors are those of Acquire, of the accesses that
// would take the memory, and of GetContext. After an error the pool and its Stats are as before, except
// for memory that was given back to make room. A nil ctx is never done.
func AcquireContext[T any](ctx context.Context, p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesBoth(ctx), false, shape)
}

// AcquirePinnedContext is AcquireContext for a buffer as [NewPinned] makes it.
func AcquirePinnedContext[T any](ctx context.Context, p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesBoth(ctx), true, shape)
}

// takesBoth is the take of AcquireContext: the memory of both sides.
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
		err := a.provideBoth((*slab.Pool).Get)
		if !errors.Is(err, device.ErrOutOfMemory) || isMoreThanLimit(a.bytes(), err) {
			return err
		}
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("unified: other calls wait for memory: %w: %w", ctx.Err(), err)
		}
		defer func() { <-p.turn }()
		return a.provideBoth(func(p *slab.Pool, size int) (slab.PooledBuffer, error) { return p.GetContext(ctx, size) })
	}
}

// isMoreThanLimit reports whether err says that a Limit never has room for that number of bytes. GetContext says so,
// but a call comes to that after the calls before it, which may wait for long.
func isMoreThanLimit(bytes int64, err error) bool {
	var full *slab.LimitError
	return errors.As(err, &full) && bytes > full.Max-full.Promised
}

// provideBoth sees to it that both sides have memory. If that fails, it gives new memory back.
func (a *array) provideBoth(get getter) error {
	had := a.sides[onDevice].has
	if err := a.provide(onDevice, get); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done && !had {
			a.sides[onDevice].release(onDevice)
		}
	}()
	if err := a.provide(host, get); err != nil {
		return err
	}
	done = true
	return nil
}
