package slab

import (
	"errors"

	"github.com/bufslab/bufslab/slab/internal/budget"
)

// How a pool takes part in the budgets that may refuse it memory: see slab/internal/budget.

// budgetsOf returns the budgets of what draws on a, the nearest first, the device's last: any of them
// may be what has no room. There may be none.
func budgetsOf(a Allocator) (list []*budget.Budget) {
	for l := range layers(a) {
		if l, ok := l.(*Limit); ok {
			list = append(list, &l.budget)
		}
	}
	if b := budget.OfDevice(deviceOf(a)); b != nil {
		list = append(list, b)
	}
	return list
}

// enterBudgets has the pool share what it draws on.
func (p *pool) enterBudgets() {
	budget.ShareDevice(deviceOf(p.upstream), p)
	if p.budgets = budgetsOf(p.upstream); p.budgets == nil {
		p.budgets = []*budget.Budget{{}}
	}
	for _, b := range p.budgets {
		b.Share(p)
	}
}

// leaveBudgets undoes enterBudgets.
func (p *pool) leaveBudgets() {
	for _, b := range p.budgets {
		b.Unshare(p)
	}
	budget.UnshareDevice(deviceOf(p.upstream), p)
}

// endWaits has calls that wait see that the pool is closed.
func (p *pool) endWaits() {
	for _, b := range p.budgets {
		b.Queue.WakeAll()
	}
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

// A pool is a budget.Pool.
var _ budget.Pool = (*pool)(nil)

func (p *pool) Hurry() {
	p.waits.hurried.Add(1)
	p.cache.Stop()
	p.waitForStreams()
}

func (p *pool) Relax() {
	p.cache.Start()
	p.waits.hurried.Add(-1)
}

// AddCalm takes reclaimMu, as a call that has memory in hand holds that or wakes when it ends. Passing
// is read first: a call that has ended by then is in the counts.
func (p *pool) AddCalm(c *budget.Calm) bool {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	if p.accounting.Passing() {
		return false
	}
	managed := p.managed()
	u := p.cache.Usage()
	if u.Got-u.Released > p.leaks.ForgottenBytes() || usageOf(p.strategy, managed).ManagedBytes() != managed {
		return false
	}
	s := p.stats()
	c.Gets += u.Gets
	c.Managed += s.ManagedBytes
	return s.ActiveBytes == 0 && s.RoundingBytes == 0 && s.WaitingBlocks == 0 && p.pending.Len() == 0
}
