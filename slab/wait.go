package slab

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/budget"
)

// barging is how long the leader of a queue waits before later calls let it go first. A
// goroutine that runs uses memory sooner than one that has to be woken, so this is worth a
// third of the throughput. After that, only Get can still take memory ahead of the queue.
const barging = time.Millisecond

// errQueued is the first error of a call that joins a queue without a try.
var errQueued = fmt.Errorf("slab: others wait for memory: %w", device.ErrOutOfMemory)

func waitError(ctx context.Context, size int, waited time.Duration, err error) error {
	return &WaitError{size, waited, context.Cause(ctx), err, ctx.Err()}
}

// GetContext is Get that waits where Get would be out of memory, until there is room or ctx is
// done. Room comes from this pool and all pools that share its Limit or its device: from their
// releases, from their held memory, and from their Reclaimers (see [Pool.AddReclaimer]).
//
// The call that has waited longest gets the memory. In its first millisecond later calls that
// find room may go first; then they queue. So no small request keeps a large request from its
// memory. A Get does not queue: it fails only where nothing fits, and may take memory ahead of
// the queue. If waits have to end, use GetContext for all large or frequent requests.
//
// GetContext does not wait, and returns what Get returns, if size is 0 or negative, more than a
// Limit of the pool allows or more than the device has in all. Nor does it if the pool is closed,
// also during the wait, or if no active buffer is left that could make room.
//
// A request that cannot be met, because buffers stay active or a Limit has promised the rest to
// others, blocks every later call in the queue until its ctx is done. So bound sizes that a peer
// names, and give each ctx a deadline.
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
	case q.tooLarge(size):
		return q.getWithoutWait(size)
	default:
		return q.getContext(ctx, size)
	}
}

// getWithoutWait is Get that does not wait for streams.
func (p *pool) getWithoutWait(size int) (PooledBuffer, error) {
	b, err := p.getNow(size, atOnce)
	p.fail(err)
	return b, err
}

// tooLarge reports whether Get must fail even if all memory is given back.
func (p *pool) tooLarge(size int) bool {
	for _, b := range p.budgets {
		if b.Max > 0 && int64(size) > b.Max {
			return true
		}
	}
	return size > maxAsk
}

// exceedsDevice reports whether the device has less memory in all.
func (p *pool) exceedsDevice(size int) bool {
	d := deviceOf(p.upstream)
	if d == nil {
		return false
	}
	_, total, err := d.MemInfo()
	return err == nil && int64(size) > total
}

func (p *pool) getContext(ctx context.Context, size int) (b PooledBuffer, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return b, p.refuse(ctx, size)
	}
	at, queued := p.mustQueue()
	if err = errQueued; !queued {
		if b, err = p.getNow(size, atOnce); !outOfMemory(err) {
			return b, err
		}
		at = p.refusing(err)
	}
	if p.exceedsDevice(size) { // it takes a call of the device: not before there is no room
		return p.getWithoutWait(size)
	}
	b, err = p.wait(ctx, size, at, err)
	p.fail(err)
	return b, err
}

// refuse says whether a call whose context is done would have found room.
func (p *pool) refuse(ctx context.Context, size int) error {
	b, err := p.getNow(size, quickly)
	if err == nil {
		b.discard()
	} else if !outOfMemory(err) {
		return err
	}
	return waitError(ctx, size, 0, err)
}

// mustQueue returns a budget whose leader has waited too long to be overtaken.
func (p *pool) mustQueue() (at *budget.Budget, must bool) {
	if p.waits.hurried.Load() == 0 {
		return at, false
	}
	for _, b := range p.budgets {
		if b.Queue.LedFor() >= barging {
			return b, true
		}
	}
	return at, false
}

// wait waits in the queue of the budget that err came from. It joins the queue before it tries
// again, so it misses no memory that is released after the try.
func (p *pool) wait(ctx context.Context, size int, at *budget.Budget, err error) (b PooledBuffer, _ error) {
	w := budget.NewWaiter()
	p.waits.begin()
	at.Join(w)
	defer func() { at.Leave(w); p.waits.end(w) }()
	for !p.closed.Load() {
		if at.Queue.Leads(w) {
			var hopeless bool
			if b, hopeless, err = p.tryAgain(size, at); !outOfMemory(err) {
				return b, err
			}
			switch next := p.refusing(err); {
			case next != at: // at cannot tell whether next is hopeless
				at.Leave(w)
				at = next
				at.Join(w)
				continue
			case hopeless && len(w.Woken) == 0: // else memory has come back since the look
				return b, err
			}
		}
		select {
		case <-w.Woken:
		case <-ctx.Done():
			return b, waitError(ctx, size, w.Waited(), err)
		}
	}
	return b, ErrClosed
}

// tryAgain is for the leader of a queue. It reports hopeless if no buffer was active when there
// was no room, so that nothing will ever wake the caller. Memory that other calls gave back
// meanwhile was in the way, though it was not active: then tryAgain looks once more.
func (p *pool) tryAgain(size int, at *budget.Budget) (b PooledBuffer, hopeless bool, err error) {
	defer p.budgets[len(p.budgets)-1].Lead()()
	for {
		before, calm := at.Calm()
		b, err = p.getNow(size, again)
		if !calm || !outOfMemory(err) {
			return b, false, err
		}
		after, still := at.Calm()
		if !still || before.Gets != after.Gets {
			return b, false, err
		}
		if before == after {
			return b, true, err
		}
	}
}
