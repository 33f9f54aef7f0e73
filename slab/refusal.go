package slab

import (
	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Get that has failed need not be tried again before something has changed. In overload this is the path that runs.
//
// A Get that a Limit has refused watches all pools of the Limit, tries once more, and notes the refusal. Until one of
// these pools or the Limit changes, each Get of the class for as many bytes fails at once. A watched pool tells the
// queues of its budgets of each change: where a Release, or a Get from a depot, ends; where memory goes upstream; after
// a collection. Its class caches have a limit of 0, so the first Release that one of them keeps is noticed, too: it
// raises the limit (percpu.Options.Raised). What comes back before the last try is found by it, and what comes back
// later is told. So a hit has nothing to look at.
//
// A refusal by a device is not noted: others may give its memory back and tell nobody.

// refusedBefore returns the error of a Get that would fail as an earlier one has, else nil. A larger block of the
// same class would fail, too.
func (p *pool) refusedBefore(size, class int) *OutOfMemoryError {
	r := p.refusals.of[class].Load()
	switch {
	case r == nil || r.by.Queue.Changes() != r.changes || size < r.err.Size:
		return nil
	case size == r.err.Size:
		return r.err
	case class == p.cache.Uncached():
		return nil
	}
	err := *r.err
	err.Size = size
	_, err.Class = p.cache.Fit(size)
	return &err
}

// watchLimit has what a Limit may have room from tell of changes, if err says that the Limit refused. by is nil if it
// did not, or if something would not tell. A try has to follow.
func (p *pool) watchLimit(class int, err error) (r refusal) {
	if by := p.refusingLimit(err); by != nil {
		if changes, ok := by.Watch(); ok {
			r = refusal{by: by, changes: changes, class: class}
		}
	}
	return r
}

// noteRefusal notes that the try after watchLimit has failed with err, if the same Limit refused.
func (p *pool) noteRefusal(r refusal, err *OutOfMemoryError) {
	if r.by != nil && r.by == p.refusingLimit(err) {
		r.err = err
		p.refusals.of[r.class].Store(&r)
	}
}

// Watch has the pool tell of changes, until it has told of one. It reports false where memory may come back, or be
// given back, with no sign.
func (p *pool) Watch(by *budget.Budget) bool {
	if p.guard.Guard != nil || p.config.replayed() || !isBuiltin(p.config.Strategy) || !p.drawsDirectly(by) {
		return false
	}
	for w := p.refusals.watch.Load(); !p.refusals.watch.CompareAndSwap(w, (w+1)|1); {
		w = p.refusals.watch.Load()
	}
	if p.pending.Len() > 0 || p.reclaimers.Len() > 0 { // streams and keepers tell nothing
		return false
	}
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	p.cache.ReclaimLimits()
	return true
}

// drawsDirectly reports whether only Limits are between the pool and one of its budgets.
func (p *pool) drawsDirectly(by *budget.Budget) bool {
	for a := range upstream.Layers(p.upstream) {
		l, ok := a.(*Limit)
		if !ok || &l.budget == by {
			return ok
		}
	}
	return false
}

// changed is called after each step by which a Get may find room that it did not find before. It takes no lock.
func (p *pool) changed() {
	if w := p.refusals.watch.Load(); w%2 != 0 {
		p.tellChange(w)
	}
}

// tellChange tells first and ends the watch then. Between the two another call may tell, too; and a Watch since w was
// read goes on.
func (p *pool) tellChange(w uint64) {
	for _, b := range p.budgets {
		b.Queue.Changed()
	}
	p.refusals.watch.CompareAndSwap(w, w+1)
}
