package slab

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/budget"
)

// errQueued is the first error of a call that joins a queue without a try.
var errQueued = fmt.Errorf("slab: others wait for memory: %w", device.ErrOutOfMemory)

// GetContext is Get that waits where Get would be out of memory, until there is room or ctx is
// done. Room comes from this pool and all pools that share its Limit or its device: from their
// releases, from their held memory, and from their Reclaimers (see [Pool.AddReclaimer]).
//
// Calls are served in the order in which they came. A GetContext that finds another one waiting for memory
// that both need waits behind it, though there may be room. So no small request keeps a large request
// from its memory. A call that a promise of its Limit can serve needs no memory of the Limits around (see
// [Limit.Within]). A Get does not queue: it fails only where nothing fits, and may take memory ahead of
// the queue. If waits have to end, use GetContext for all large or frequent requests.
//
// GetContext does not wait, and returns an error as Get does, if size is 0 or negative, more than the
// device has in all, or more than a Limit of the pool allows beside what is promised to others. Then the
// error wraps a *[LimitError] that names the promised bytes. A call that waits ends with it when a new
// promise has this effect. Nor does GetContext wait if the pool is closed, also during the wait, or if no
// active buffer is left that could make room.
//
// A request that cannot be met because buffers stay active blocks every later call in the queue until
// its ctx is done. So bound sizes that a peer names, and give each ctx a deadline. If every call that
// waits keeps buffers meanwhile, none goes on before a deadline. So take all that a task needs by one call,
// and cut it (see [PooledBuffer.Slice]).
//
// If ctx is done GetContext takes nothing, and returns a *[WaitError]. If ctx is done before the
// call, GetContext tries once, to say whether there is room, and gives the memory back: it is held
// then, and counted. A nil ctx is never done.
func (p *Pool) GetContext(ctx context.Context, size int) (PooledBuffer, error) {
	if !p.isOpened() {
		return PooledBuffer{}, errNotOpened
	}
	defer runtime.KeepAlive(p) // as in Pool.get
	switch q := p.pool; {
	case size <= 0:
		return p.Get(size)
	case size > maxAsk:
		return PooledBuffer{}, q.tooMuch(size)
	case ctx != nil && ctx.Err() != nil:
		return PooledBuffer{}, q.refuse(ctx, size)
	default:
		return q.getContext(ctx, size)
	}
}

// tooMuch is the error of a call for more than an upstream is ever asked for. Unlike Get it waits for no stream.
func (p *pool) tooMuch(size int) error {
	err := p.never(size)
	if err == nil || p.refuses() {
		_, err = p.getNow(size, atOnce)
	}
	p.fail(err)
	return err
}

// refuse says whether a call whose context is done would have found room.
func (p *pool) refuse(ctx context.Context, size int) error {
	b, err := p.getNow(size, quickly)
	b.discard()
	return p.doneBefore(ctx, size, err)
}

// doneBefore is the error of a call whose context is done, where a try has ended with err.
func (p *pool) doneBefore(ctx context.Context, size int, err error) error {
	if err != nil && !outOfMemory(err) {
		return err
	}
	if never := p.never(size); err != nil && never != nil {
		p.fail(never)
		return never
	}
	return &WaitError{Size: size, Cause: context.Cause(ctx), Err: err, done: ctx.Err()}
}

func (p *pool) getContext(ctx context.Context, size int) (b PooledBuffer, err error) {
	var at *budget.Budget
	if !p.isAwaited() {
		if b, err = p.getNow(size, atOnce); !outOfMemory(err) {
			return b, err
		}
		at = p.refusing(err, size)
	}
	b, err = p.getInTurn(ctx, size, at, err)
	p.fail(err)
	return b, err
}

// getInTurn is getContext where others wait, or where the budget at had no room and said err.
func (p *pool) getInTurn(ctx context.Context, size int, at *budget.Budget, err error) (b PooledBuffer, _ error) {
	err = p.waitInTurn(ctx, attempt{size: size, try: func() (err error) {
		b, err = p.getNow(size, again)
		return err
	}}, at, err)
	return b, err
}

// waitInTurn is wait, unless there can never be room.
func (p *pool) waitInTurn(ctx context.Context, a attempt, at *budget.Budget, err error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if never := cmp.Or(p.never(a.size), p.exceedsDevice(a.size)); never != nil {
		return never
	}
	return p.wait(ctx, a, at, err)
}
