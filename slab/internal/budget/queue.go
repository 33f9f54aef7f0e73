package budget

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Queue has its waiters in the order in which they began to wait. The first one leads:
// it alone tries again when there may be memory, so that a small request does not take
// what a large one waits for. The zero Queue is empty. It is safe for concurrent use.
type Queue struct {
	length  atomic.Int32 // changed under mu, read without
	changes atomic.Uint64

	mu          sync.Mutex // leaf
	first, last *Waiter
}

// A Waiter is one call that waits. It is in one Queue at a time, and one goroutine moves it.
type Waiter struct {
	// Woken has a token when the waiter has to look again: there may be memory, its turn
	// has come, or the pool was closed. Tokens do not add up.
	Woken <-chan struct{}

	woken      chan struct{}
	looks      atomic.Bool // there may be memory that Room does not count
	since      time.Time
	turn       int64     // less than a later waiter's
	on         []*Budget // that may refuse the call, the nearest first
	prev, next *Waiter   // under the mu of the queue
}

// turns has the last turn that a waiter was given.
var turns atomic.Int64

// NewWaiter returns a waiter that begins to wait now. On has the budgets that may refuse its call, the
// nearest first; at least one.
func NewWaiter(on []*Budget) *Waiter {
	c := make(chan struct{}, 1)
	return &Waiter{Woken: c, woken: c, since: time.Now(), turn: turns.Add(1), on: on}
}

// NewFirst returns a waiter that is before all calls of a budget, and never tries.
func NewFirst(on *Budget) *Waiter {
	c := make(chan struct{}, 1)
	return &Waiter{Woken: c, woken: c, since: time.Now(), turn: beforeAll, on: []*Budget{on}}
}

// Waited returns how long w has waited.
func (w *Waiter) Waited() time.Duration { return time.Since(w.since) }

// Turn returns what orders calls: it is less for a call that began to wait before.
func (w *Waiter) Turn() int64 { return w.turn }

// Looks reports whether w was woken for what Room does not count, since the last Looks.
func (w *Waiter) Looks() bool { return w.looks.Swap(false) }

// beforeAll is the turn of a waiter of NewFirst; a queue has one at most.
const beforeAll = 0

// Latest is the turn of a call that does not wait yet.
const Latest = math.MaxInt64

// Len returns the number of waiters.
func (q *Queue) Len() int { return int(q.length.Load()) }

// Calls returns the number of waiters, without one of NewFirst.
func (q *Queue) Calls() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first != nil && q.first.turn == beforeAll {
		return q.Len() - 1
	}
	return q.Len()
}

// join enters w behind all that began to wait before it. It reports whether the queue was
// empty.
func (q *Queue) join(w *Waiter) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.last // a waiter that comes from another queue may be older than some
	for at != nil && at.turn > w.turn {
		at = at.prev
	}
	q.insert(w, at)
	return q.length.Add(1) == 1
}

// insert links w behind a waiter, or before all where that is nil. The caller holds mu.
func (q *Queue) insert(w, behind *Waiter) {
	next := q.first
	if behind != nil {
		next = behind.next
	}
	w.prev, w.next = behind, next
	*q.nextOf(behind), *q.prevOf(next) = w, w
}

// nextOf and prevOf return where a waiter's neighbours are noted; those of nil are the ends.
func (q *Queue) nextOf(w *Waiter) **Waiter {
	if w == nil {
		return &q.first
	}
	return &w.next
}

func (q *Queue) prevOf(w *Waiter) **Waiter {
	if w == nil {
		return &q.last
	}
	return &w.prev
}

// leave takes w out, and wakes the one that leads now if w did: what w was woken for may
// be more than it took. It reports whether the queue is empty.
func (q *Queue) leave(w *Waiter) (last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	led := q.first == w
	*q.nextOf(w.prev), *q.prevOf(w.next) = w.next, w.prev
	w.prev, w.next = nil, nil
	if led {
		q.first.wake()
	}
	return q.length.Add(-1) == 0
}

// before reports whether a waiter began before turn: any, or one whose call the budget below may refuse.
func (q *Queue) before(turn int64, below *Budget) bool {
	if q.Len() == 0 {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.first
	if below != nil {
		w = q.firstBelow(below)
	}
	return w != nil && w.turn < turn
}

// firstBelow returns the waiter that has waited longest of those that the budget b may refuse, or nil.
// The caller holds mu.
func (q *Queue) firstBelow(b *Budget) *Waiter {
	for w := q.first; w != nil; w = w.next {
		if slices.Contains(w.on, b) {
			return w
		}
	}
	return nil
}

// Changed counts a change after which there may be more room than before. It takes no lock.
func (q *Queue) Changed() { q.changes.Add(1) }

// Changes returns how often Changed was called.
func (q *Queue) Changes() uint64 { return q.changes.Load() }

// Wake wakes the one that leads: there may be room that its last try could not see. Where nobody waits it takes no
// lock.
func (q *Queue) Wake() {
	if q.Len() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.first.wake()
}

// wakeBelow wakes the one that has waited longest of those that the budget b may refuse.
func (q *Queue) wakeBelow(b *Budget) {
	if q.Len() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.firstBelow(b).wake()
}

// WakeAll wakes all, and has them look.
func (q *Queue) WakeAll() {
	q.each((*Waiter).wake)
}

// each has all waiters look, and then calls f with each.
func (q *Queue) each(f func(*Waiter)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := q.first; w != nil; w = w.next {
		w.looks.Store(true)
		f(w)
	}
}

func (w *Waiter) wake() {
	if w == nil {
		return
	}
	select {
	case w.woken <- struct{}{}:
	default: // it has a token, and has not looked yet
	}
}
