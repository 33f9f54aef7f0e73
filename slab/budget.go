package slab

import (
	"errors"

	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// How a pool takes part in the budgets that may refuse it memory: see slab/internal/budget.

// budgetsOf returns the budgets of what draws on a, the nearest first, the device's last: any of them
// may be what has no room. There may be none.
func budgetsOf(a Allocator) (list []*budget.Budget) {
	for l := range upstream.Layers(a) {
		if l, ok := l.(*Limit); ok {
			list = append(list, &l.budget)
		}
	}
	if b := budget.OfDevice(deviceOf(a)); b != nil {
		list = append(list, b)
	}
	return list
}

// refusing returns the budget that err comes from. If that is none of the pool's, or does
// not tell, it is the widest: whatever makes room wakes the calls that wait there.
func (p *pool) refusing(err error) *budget.Budget {
	var full *LimitError
	if errors.As(err, &full) {
		for _, b := range p.budgets {
			if full.limit != nil && b == &full.limit.budget {
				return b
			}
		}
	}
	return p.budgets[len(p.budgets)-1]
}

// wake wakes the calls that may have what the pool has just given to its strategy. Hardly ever
// does one wait.
func (p *pool) wake() {
	if p.waits.hurried.Load() > 0 || p.closed.Load() {
		p.wakeAll()
	}
}

func (p *pool) wakeAll() {
	on := p.budgets
	if p.closed.Load() { // a device may have other members now
		on = budgetsOf(p.upstream)
	}
	for _, b := range on {
		b.Queue.Wake()
	}
}

// A Reclaimer can give held memory back. A [Pool] shares its budget as one: a Get that has no room asks
// the others that draw on the same memory to give back what they hold, the pools on one device, the pools
// on one Limit, and whatever keeps buffers of a pool for reuse.
type Reclaimer interface{ FreeHeld() }

// AddReclaimer says that r keeps buffers of the pool, active ones, for reuse. Its FreeHeld
// releases them. The pool calls it, without a lock, in a Get that has no room, and for
// others that share its Limit or its device; r must not wait there for a lock that is
// held around a Get. The pool keeps r alive until RemoveReclaimer.
func (p *Pool) AddReclaimer(r Reclaimer) { p.opened().reclaimers.Add(r) }

// RemoveReclaimer undoes AddReclaimer.
func (p *Pool) RemoveReclaimer(r Reclaimer) { p.opened().reclaimers.Remove(r) }

// Offer is for code that keeps buffers of the pool: one that was in use is not any more, and
// FreeHeld would release it. Calls that wait for memory have it asked for then.
func (p *Pool) Offer() { p.opened().wake() }
