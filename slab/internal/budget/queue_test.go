package budget

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// woken reports whether w has a token, and takes it.
func woken(w *Waiter) bool {
	select {
	case <-w.Woken:
		return true
	default:
		return false
	}
}

// list returns the waiters in their order, and fails if that is another one backwards.
func list(t *testing.T, q *Queue) (all []*Waiter) {
	t.Helper()
	for w := q.first; w != nil; w = w.next {
		all = append(all, w)
	}
	var back []*Waiter
	for w := q.last; w != nil; w = w.prev {
		back = append(back, w)
	}
	slices.Reverse(back)
	if !slices.Equal(all, back) || len(all) != q.Len() {
		t.Fatalf("%d waiters forwards, %d backwards, %d counted", len(all), len(back), q.Len())
	}
	return all
}

func TestOnlyTheOneThatLeadsIsWoken(t *testing.T) {
	var q Queue
	q.Wake()
	a, b := NewWaiter(nil), NewWaiter(nil)
	if !q.join(a) || q.join(b) {
		t.Error("who was first?")
	}
	q.Wake()
	q.Wake()
	if !woken(a) || woken(a) || woken(b) {
		t.Error("not the first one, once")
	}
	if q.leave(a) || !woken(b) {
		t.Error("the next one was not woken when the first one left")
	}
	c := NewWaiter(nil)
	q.join(c)
	if q.leave(b) || !woken(c) || !q.leave(c) || q.Len() != 0 {
		t.Error("who was last?")
	}
}

// A waiter that does not lead wakes nobody by going.
func TestAWaiterThatGivesUpWakesNobody(t *testing.T) {
	var q Queue
	a, b, c := NewWaiter(nil), NewWaiter(nil), NewWaiter(nil)
	for _, w := range []*Waiter{a, b, c} {
		q.join(w)
	}
	q.leave(b)
	if woken(a) || woken(c) || !slices.Equal(list(t, &q), []*Waiter{a, c}) {
		t.Error("somebody was woken, or is gone")
	}
	q.WakeAll()
	if !woken(a) || woken(b) || !woken(c) {
		t.Error("not all were woken")
	}
}

// The order is that in which they began to wait, wherever that was.
func TestQueueLikeAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var queues [2]Queue
	var model [2][]*Waiter
	for range 2000 {
		i := r.IntN(2)
		switch n := len(model[i]); {
		case n == 0 || r.IntN(3) == 0:
			w := NewWaiter(nil)
			if first := queues[i].join(w); first != (n == 0) {
				t.Fatalf("Join of %d others: %v", n, first)
			}
			model[i] = append(model[i], w)
		default:
			at := r.IntN(n)
			w := model[i][at]
			model[i] = slices.Delete(model[i], at, at+1)
			if last := queues[i].leave(w); last != (n == 1) {
				t.Fatalf("Leave of one in %d: %v", n, last)
			}
			if r.IntN(2) == 0 { // it goes to the other queue
				older := func(x *Waiter) bool { return x.turn > w.turn }
				to := slices.IndexFunc(model[1-i], older)
				if to < 0 {
					to = len(model[1-i])
				}
				queues[1-i].join(w)
				model[1-i] = slices.Insert(model[1-i], to, w)
			}
		}
		for k := range queues {
			if !slices.Equal(list(t, &queues[k]), model[k]) {
				t.Fatalf("queue %d has another order than its model", k)
			}
		}
	}
}
