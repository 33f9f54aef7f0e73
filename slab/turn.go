package slab

import (
	"context"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// How a call waits for its turn, whatever it tries then.

// ahead returns a budget where a call waits that comes before turn and needs memory that size bytes may be
// taken from, nil if there is none.
func (r *room) ahead(turn int64, size int) *budget.Budget {
	if !r.isAwaited() {
		return nil
	}
	return budget.Ahead(r.budgets, turn, int64(size))
}

// An attempt is what a call that waits tries, time and again.
type attempt struct {
	size int          // all bytes that it asks for
	try  func() error // takes them, and nothing if it fails
	// A try that takes several buffers gives back some before it fails, and so wakes itself. Then it is worth another
	// try only where there is more room than before this one.
	several bool
}

// wait waits in the queue of the budget at, which has refused what a asks for with err, until a finds room. It
// joins the queue before it tries, so it misses no memory that is released after the try. If at is nil there
// was no try.
func (p *pool) wait(ctx context.Context, a attempt, at *budget.Budget, err error) error {
	var before []budget.Room
	size, try := a.size, func() error { before = p.rooms(a); return a.try() }
	if at == nil {
		if at, _, err = p.tryInTurn(budget.Latest, size, nil, try); !outOfMemory(err) {
			return err
		}
	}
	w := budget.NewWaiter(p.budgets)
	at.Join(w)
	p.waits.begin() // it has its place when it is counted
	defer func() { at.Leave(w); p.waits.end(w) }()
	for !p.closed.Load() {
		if never := p.never(size); never != nil { // a promise may be new
			return never
		}
		next, hopeless, refused := p.tryInTurn(w.Turn(), size, at, try)
		if !outOfMemory(refused) {
			return refused
		}
		if refused != errQueued {
			err = refused
		}
		if next != at {
			w, at = at.Move(w, next), next
			continue
		}
		if refused == errQueued {
			before = nil // it has tried nothing
		}
		if hopeless && !p.wokenFor(w, before) { // else memory has come back since the look
			return err
		}
		if !hopeless && !p.sleep(ctx, w, before) {
			return p.waitError(ctx, size, w, at, err)
		}
	}
	return ErrClosed
}

// rooms returns the room of each budget, if a needs it. The caller leads.
func (r *room) rooms(a attempt) (list []budget.Room) {
	if a.several {
		for _, b := range r.budgets {
			list = append(list, b.Room())
		}
	}
	return list
}

// isWorthATry reports whether there may be more room than before, anywhere. Without a list there always may be. It
// leads while it looks, so that no try of another call looks like a change.
func (r *room) isWorthATry(before []budget.Room) bool {
	if before == nil || r.closed.Load() {
		return true
	}
	defer r.lead()()
	for i, was := range before {
		if r.budgets[i].Room().Exceeds(was) {
			return true
		}
	}
	return r.closed.Load()
}

// lead is Lead of the widest budget.
func (r *room) lead() (end func()) { return r.budgets[len(r.budgets)-1].Lead() }

// wokenFor reports whether w was woken for more than what its own try gave back. It does not wait.
func (r *room) wokenFor(w *budget.Waiter, before []budget.Room) bool {
	select {
	case <-w.Woken:
		return w.Looks() || r.isWorthATry(before)
	default:
		return false
	}
}

// sleep waits until w is woken for a try. It reports false if ctx is done before.
func (r *room) sleep(ctx context.Context, w *budget.Waiter, before []budget.Room) bool {
	for {
		select {
		case <-w.Woken:
			if w.Looks() || r.isWorthATry(before) {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// tryInTurn tries, unless a call waits that comes before turn. It returns the budget to wait for if there is no
// room, and reports hopeless if no buffer of the budget at was active when at had no room, so that nothing
// will ever wake the caller; at cannot tell that of another budget.
func (r *room) tryInTurn(turn int64, size int, at *budget.Budget, try func() error) (
	next *budget.Budget, hopeless bool, err error,
) {
	if next = r.ahead(turn, size); next != nil { // before the lock, which the one that leads may hold for long
		return next, false, errQueued
	}
	defer r.lead()()
	if next = r.ahead(turn, size); next != nil {
		return next, false, errQueued
	}
	if err = try(); !outOfMemory(err) {
		return nil, false, err
	}
	if next = r.refusing(err, size); next != at {
		return next, false, err
	}
	return r.tryInCalm(size, at, try, err)
}

// tryInCalm is tryInTurn after a try that ended with err. Memory that other calls gave back meanwhile was in the
// way, though it was not active: then tryInCalm looks once more.
func (r *room) tryInCalm(size int, at *budget.Budget, try func() error, err error) (
	next *budget.Budget, hopeless bool, _ error,
) {
	for {
		before, calm := at.Calm()
		if !calm {
			return at, false, err
		}
		if err = try(); !outOfMemory(err) {
			return nil, false, err
		}
		if next = r.refusing(err, size); next != at {
			return next, false, err
		}
		after, still := at.Calm()
		if !still || before.Gets != after.Gets {
			return at, false, err
		}
		if before == after {
			return at, true, err
		}
	}
}

// never returns an error if the Limits cannot give size bytes before a promise ends, though all that is out
// came back.
func (p *pool) never(size int) error { return p.refused(size, size, refusal{}, p.beyondLimits(size)) }

// exceedsDevice returns an error if the device has less than size bytes in all. It takes a call of the device.
func (p *pool) exceedsDevice(size int) error {
	return p.refused(size, size, refusal{}, p.beyondDevice(size))
}

func (l *layers) beyondLimits(size int) error {
	n := need{asked: int64(size)}
	for a := range upstream.Layers(l.upstream) {
		if l, ok := a.(*Limit); ok {
			if err := l.never(&n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *layers) beyondDevice(size int) error {
	d := deviceOf(l.upstream)
	if d == nil {
		return nil
	}
	_, total, err := d.MemInfo()
	if err != nil || int64(align.Up(size, grainOf(l.upstream))) <= total {
		return nil
	}
	return fmt.Errorf("slab: %d bytes of a device that has %d: %w", size, total, device.ErrOutOfMemory)
}

// waitError says that ctx is done, and what is in the way.
func (p *pool) waitError(ctx context.Context, size int, w *budget.Waiter, at *budget.Budget, err error) error {
	s := p.stats().bounded()
	return &WaitError{Size: size, Waited: w.Waited(), Cause: context.Cause(ctx), Err: err, done: ctx.Err(),
		blocks: s.ActiveBlocks, bytes: s.ActiveBytes, waiters: at.Queue.Calls()}
}
