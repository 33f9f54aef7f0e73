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

// refusedBefore returns the error of an earlier Get, if a Get would fail as that has, else nil. A larger block of the
// same class would fail, too.
func (r *room) refusedBefore(size, class int) *OutOfMemoryError {
	was := r.refusals.of[class].Load()
	switch {
	case was == nil || was.by.Queue.Changes() != was.changes || size < was.err.Size:
		return nil
	case size > was.err.Size && class == len(r.refusals.of)-1:
		return nil
	}
	return was.err
}

// again returns the error of an earlier Get of the class, for size bytes.
func (l *lending) again(e *OutOfMemoryError, size, class int) *OutOfMemoryError {
	if size == e.Size {
		return e
	}
	err := *e
	err.Size, err.Class = size, l.ask(size, class)
	return &err
}

// watchLimit has what a Limit may have room from tell of changes, if err says that the Limit refused. by is nil if it
// did not, or if something would not tell. A try has to follow.
func (r *room) watchLimit(class int, err error) (watched refusal) {
	if by := r.refusingLimit(err); by != nil {
		if changes, ok := by.Watch(); ok {
			watched = refusal{by: by, changes: changes, class: class}
		}
	}
	return watched
}

// noteRefusal notes that the try after watchLimit has failed with err, if the same Limit refused.
func (r *room) noteRefusal(watched refusal, err *OutOfMemoryError) {
	if watched.by != nil && watched.by == r.refusingLimit(err) {
		watched.err = err
		r.refusals.of[watched.class].Store(&watched)
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
func (r *room) drawsDirectly(by *budget.Budget) bool {
	for a := range upstream.Layers(r.upstream) {
		l, ok := a.(*Limit)
		if !ok || &l.budget == by {
			return ok
		}
	}
	return false
}

// changed is called after each step by which a Get may find room that it did not find before. It takes no lock.
func (r *room) changed() {
	if w := r.refusals.watch.Load(); w%2 != 0 {
		r.tellChange(w)
	}
}

// tellChange tells first and ends the watch then. Between the two another call may tell, too; and a Watch since w was
// read goes on.
func (r *room) tellChange(w uint64) {
	for _, b := range r.budgets {
		b.Queue.Changed()
	}
	r.refusals.watch.CompareAndSwap(w, w+1)
}
