package slab

import (
	"cmp"
	"errors"

	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// How a pool takes part in the budgets that may refuse it memory: see slab/internal/budget.

// enterBudgets makes the pool a member of its budgets.
func (r *room) enterBudgets(p budget.Pool) {
	budget.ShareDevice(deviceOf(r.upstream), p)
	if r.budgets = budgetsOf(r.upstream); r.budgets == nil {
		r.budgets = []*budget.Budget{{}}
	}
	for _, b := range r.budgets {
		b.Share(p)
	}
}

// leaveBudgets undoes enterBudgets.
func (r *room) leaveBudgets(p budget.Pool) {
	for _, b := range r.budgets {
		b.Unshare(p)
	}
	budget.UnshareDevice(deviceOf(r.upstream), p)
}

// refusing returns the widest budget that has no room for size bytes, where a call has ended with err: the Limit
// that err names, or one around it that is short as well. If err names no Limit of the pool, refusing returns
// the widest one: all memory that comes back wakes the calls that wait there.
func (r *room) refusing(err error, size int) (at *budget.Budget) {
	var full *LimitError
	errors.As(err, &full)
	n := int64(size)
	for a := range upstream.Layers(r.upstream) {
		if l, ok := a.(*Limit); ok && full != nil {
			var short bool
			if n, short = l.short(n); short && at != nil || l == full.limit {
				at = &l.budget
			}
		}
	}
	return cmp.Or(at, r.budgets[len(r.budgets)-1])
}

// refusingLimit returns the budget of the pool's Limit that err comes from, or nil.
func (r *room) refusingLimit(err error) *budget.Budget {
	var full *LimitError
	if errors.As(err, &full) {
		for _, b := range r.budgets {
			if full.limit != nil && b == &full.limit.budget {
				return b
			}
		}
	}
	return nil
}

// wake wakes the calls that may have the memory that the pool has just given to its strategy. Calls
// rarely wait.
func (r *room) wake() {
	if r.isAwaited() || r.closed.Load() {
		r.wakeAll()
	}
}

func (r *room) wakeAll() {
	on := r.budgets
	if r.closed.Load() { // a device may have other members now
		on = budgetsOf(r.upstream)
	}
	budget.Wake(on)
}

// A Reclaimer can give held memory back. A Get that has no room asks all Reclaimers of its memory to do
// so: the pools on the same device, the pools on the same Limit, and code that keeps buffers of these
// pools for reuse (see [Pool.AddReclaimer]).
type Reclaimer interface{ FreeHeld() }

// AddReclaimer says that r keeps active buffers of the pool for reuse, and that r.FreeHeld releases
// them. The pool calls r.FreeHeld in a Get that has no room, and for pools that share its Limit or its
// device. It holds no lock of a pool meanwhile, but the turn of the queue, if the call waits in one: so
// r.FreeHeld must not call GetContext or GetAll, nor wait for a lock that is held around a Get. The pool keeps
// r alive until RemoveReclaimer. A nil r panics.
func (p *Pool) AddReclaimer(r Reclaimer) {
	if r == nil {
		panic("slab: AddReclaimer of nil")
	}
	q := p.opened()
	q.reclaimers.Add(r)
	q.changed() // it may have something to give
}

// RemoveReclaimer undoes AddReclaimer.
func (p *Pool) RemoveReclaimer(r Reclaimer) { p.opened().reclaimers.Remove(r) }

// Offer is for code that keeps buffers of the pool (see AddReclaimer): it says that a buffer has become
// idle, so that FreeHeld would release it. Calls that wait for memory then ask for it.
func (p *Pool) Offer() {
	if q := p.opened(); q.isAwaited() || q.closed.Load() {
		budget.Offer(budgetsOf(q.upstream))
	}
}
