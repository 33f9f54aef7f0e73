package slab

import "github.com/bufslab/bufslab/slab/internal/budget"

// A pool is a budget.Pool.
var _ budget.Pool = (*pool)(nil)

func (p *pool) Hurry() {
	p.waits.hurried.Add(1)
	p.cache.Stop()
	p.waitForStreams(p.isAwaited)
}

func (p *pool) Relax() {
	p.cache.Start()
	p.waits.hurried.Add(-1)
}

func (r *room) WakeAll() {
	for _, b := range r.budgets {
		b.Queue.WakeAll()
	}
}

func (p *pool) Gets() int64 { return p.cache.Gets() - p.waits.undone.Load() }

// AddCalm takes reclaimMu, as a call that has memory in hand holds reclaimMu or wakes when it ends. It reads
// passing first: a call that has ended by then is in the counts.
func (p *pool) AddCalm(c *budget.Calm) bool {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	if p.accounting.Passing() {
		return false
	}
	managed := p.managed()
	u := p.cache.Served()
	if u.Got-u.Released > p.leaks.ForgottenBytes() || usageOf(p.strategy, managed).ManagedBytes() != managed {
		return false
	}
	s := p.stats()
	c.Gets += u.Gets() - p.waits.undone.Load()
	c.Managed += s.ManagedBytes
	return s.ActiveBytes == 0 && s.RoundingBytes == 0 && s.WaitingBlocks == 0 && p.pending.Len() == 0
}
