package slab

import (
	"errors"

	"github.com/bufslab/bufslab/slab/internal/waiters"
)

// A budget is what may refuse a pool memory: a Limit, a device, or the upstream of one pool
// alone. It is known by its sharers. Who waits for memory is in the queue of the budget that
// refused: all that makes room there comes from the pools that share it.
//
// While somebody waits, these pools keep nothing in caches. So each Release goes to the
// strategy, and from there wakes the one that leads the queue: no hit has to look whether
// somebody waits. Stopping the caches has to come first, then a try that empties them, then
// the wait: what is released before the try is found by it, what comes later wakes.
//
// A try cannot see memory that another call has in hand, on its way between upstream and the
// strategy. Such a call either holds reclaimMu, which the try takes, or wakes the queue when it
// ends, also when it fails. A try itself never wakes: it would wake itself, for ever. So tries
// of queues whose pools have a device in common take turns: see sharers.leading.

// budgetsOf returns the budgets of what draws on a, the nearest first. There may be none.
func budgetsOf(a Allocator) (list []*sharers) {
	for _, s := range sharersOf(a) {
		switch s := s.(type) {
		case *Limit:
			list = append(list, &s.sharers)
		case deviceSharers:
			if of := s.sharers(); of != nil {
				list = append(list, of)
			}
		}
	}
	return list
}

// enterBudgets has the pool share what it draws on.
func (p *pool) enterBudgets() {
	for _, s := range sharersOf(p.upstream) {
		s.share(p)
	}
	if p.budgets = budgetsOf(p.upstream); p.budgets == nil {
		p.budgets = []*sharers{{}}
		p.budgets[0].share(p)
	}
}

// leaveBudgets undoes enterBudgets.
func (p *pool) leaveBudgets() {
	for _, s := range sharersOf(p.upstream) {
		s.unshare(p)
	}
	for _, b := range p.budgets {
		b.unshare(p) // the one of this pool alone
	}
}

// endWaits has those who wait see that the pool is closed.
func (p *pool) endWaits() {
	for _, b := range p.budgets {
		b.queue.WakeAll()
	}
}

// refusing returns the budget that err comes from. If that is none of the pool's, or does
// not tell, it is the widest: whatever makes room wakes who waits there.
func (p *pool) refusing(err error) *sharers {
	var full *LimitError
	if errors.As(err, &full) {
		for _, b := range p.budgets {
			if b.limit != nil && b.limit == full.limit {
				return b
			}
		}
	}
	return p.budgets[len(p.budgets)-1]
}

// wake wakes those who may have what the pool has just given to its strategy. Hardly ever
// somebody waits.
func (p *pool) wake() {
	if p.waits.hurried.Load() > 0 || p.closed.Load() {
		p.wakeAll()
	}
}

func (p *pool) wakeAll() {
	on := p.budgets
	if p.closed.Load() { // a device may have other sharers now
		on = budgetsOf(p.upstream)
	}
	for _, b := range on {
		b.queue.Wake()
	}
}

// join has w wait. The first one stops the caches of all who share.
func (s *sharers) join(w *waiters.Waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.Join(w) {
		for r := range s.set {
			hurry(r)
		}
	}
}

// leave undoes join.
func (s *sharers) leave(w *waiters.Waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.Leave(w) {
		for r := range s.set {
			relax(r)
		}
	}
}

// hurry has a pool send all that is released to its strategy, and wait for streams on its
// own, until relax. It returns when no goroutine does otherwise any more.
func hurry(r Reclaimer) {
	if p, ok := r.(*pool); ok {
		p.waits.hurried.Add(1)
		p.cache.Stop()
		p.waitForStreams()
	}
}

// relax undoes hurry.
func relax(r Reclaimer) {
	if p, ok := r.(*pool); ok {
		p.cache.Start()
		p.waits.hurried.Add(-1)
	}
}

// giveNow asks all that share to give back what they can without a wait.
func (s *sharers) giveNow() {
	for _, r := range s.all() {
		if p, ok := r.(*pool); ok {
			p.giveNow()
		} else {
			r.FreeHeld()
		}
	}
}

// A calm is what pools that share have got in all, and manage.
type calm struct{ gets, managed int64 }

// calm reports that no pool which shares has anything out or on its way, and nobody else
// has: so nothing will come back. Where two calls return the same, there was no Get between
// them, and nothing has gone back upstream.
func (s *sharers) calm() (c calm, ok bool) {
	for _, r := range s.all() {
		p, ok := r.(*pool)
		if !ok || !p.addCalm(&c) {
			return c, false
		}
	}
	return c, s.limit == nil || s.limit.InUse() <= c.managed
}

// addCalm is calm of one pool. It takes reclaimMu, as a call that has memory in hand holds that or
// wakes when it ends. Passing is read first: a call that has ended by then is in the counts.
func (p *pool) addCalm(c *calm) bool {
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
	c.gets += u.Gets
	c.managed += s.ManagedBytes
	return s.ActiveBytes == 0 && s.RoundingBytes == 0 && s.WaitingBlocks == 0 && p.pending.Len() == 0
}
