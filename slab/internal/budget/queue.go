package budget

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Queue has its waiters in the order in which they began to wait. The first one leads:
// it alone tries again when there may be memory, so that a small request does not take
// what a large one waits for. The zero Queue is empty. It is safe for concurrent use.
type Queue struct {
	length atomic.Int32 // changed under mu, read without

	mu          sync.Mutex // leaf
	first, last *Waiter
}

// A Waiter is one call that waits. It is in one Queue at a time, and one goroutine moves it.
type Waiter struct {
	// Woken has a token when the waiter has to look again: there may be memory, its turn
	// has come, or the pool was closed. Tokens do not add up.
	Woken <-chan struct{}

	woken      chan struct{}
	since      time.Time
	prev, next *Waiter // under the mu of the queue
}

// NewWaiter returns a waiter that begins to wait now.
func NewWaiter() *Waiter {
	c := make(chan struct{}, 1)
	return &Waiter{Woken: c, woken: c, since: time.Now()}
}

// Waited returns how long w has waited.
func (w *Waiter) Waited() time.Duration { return time.Since(w.since) }

// Len returns the number of waiters.
func (q *Queue) Len() int { return int(q.length.Load()) }

// join enters w behind all that began to wait before it. It reports whether the queue was
// empty.
func (q *Queue) join(w *Waiter) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.last // a waiter that comes from another queue may be older than some
	for at != nil && at.since.After(w.since) {
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

// Leads reports whether w is the one that has waited longest.
func (q *Queue) Leads(w *Waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.first == w
}

// LedFor returns how long the one has waited that leads, 0 if nobody waits.
func (q *Queue) LedFor() time.Duration {
	if q.Len() == 0 {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first == nil {
		return 0
	}
	return q.first.Waited()
}

// Wake wakes the one that leads. Where nobody waits it takes no lock.
func (q *Queue) Wake() {
	if q.Len() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.first.wake()
}

// WakeAll wakes all.
func (q *Queue) WakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := q.first; w != nil; w = w.next {
		w.wake()
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
