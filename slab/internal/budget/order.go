package budget

// Budgets nest, and so do their queues: a call waits in the queue of the budget that refused it, and may
// need memory of others as well. The order is that of turns, over all queues that a call finds on its way.
//
// A budget around others may have promised bytes to one of them. A call that such a promise can serve takes
// nothing from the calls that wait around it. So it is behind those alone that the same promise may serve.

// Ahead returns the nearest budget of on where a call waits that began before turn, and that n bytes for
// this one may be taken from. It returns nil if there is none.
func Ahead(on []*Budget, turn, n int64) *Budget {
	for widest := on[len(on)-1]; ; {
		moved := widest.moved.Load()
		b := ahead(on, turn, n)
		if b != nil || widest.moved.Load() == moved { // else a waiter may have been where it was not looked for
			return b
		}
	}
}

func ahead(on []*Budget, turn, n int64) *Budget {
	var serves *Budget // has a promise that has room
	for i, b := range on {
		if b.Queue.before(turn, serves) {
			return b
		}
		if serves == nil && b.Promise != nil && anyWaits(on[i+1:]) && b.promises(n) {
			serves = b
		}
		if b.Around == nil { // the next budget has promised nothing
			serves = nil
		}
	}
	return nil
}

func anyWaits(on []*Budget) bool {
	for _, b := range on {
		if b.Queue.Len() > 0 {
			return true
		}
	}
	return false
}

// promises reports whether what b was promised has room for n bytes, beside what its pools have handed out. So the
// pools of b have it, but for what their strategies round.
func (b *Budget) promises(n int64) bool {
	bytes, used := b.Promise()
	if n > bytes || n <= bytes-used {
		return n <= bytes
	}
	for _, m := range b.members.all() {
		if p, ok := m.(Pool); ok {
			used -= p.Free()
		}
	}
	return n <= bytes-used
}

// Wake wakes the calls that may have memory that has come back to b: the one that leads there, and those that
// lead around it.
func (b *Budget) Wake() {
	for at := b; at != nil; at = at.Around {
		at.Queue.Wake()
	}
	b.wakeAround()
}

// wakeAround wakes the calls that wait around b for what was promised to b.
func (b *Budget) wakeAround() {
	if b.Promise == nil {
		return
	}
	for at := b.Around; at != nil; at = at.Around {
		at.Queue.wakeBelow(b)
	}
}

// Wake wakes the calls that may have memory that has come back to the pool that draws on these budgets.
func Wake(on []*Budget) {
	for _, b := range on {
		b.Queue.Wake()
		b.wakeAround()
	}
}

// Offer is Wake for memory that keepers have, which no Room counts.
func Offer(on []*Budget) {
	for _, b := range on {
		b.Queue.each(func(*Waiter) {})
	}
	Wake(on)
}

// Move has the call of w wait for another budget, to which it brings its turn. It is in a queue all the time.
func (b *Budget) Move(w *Waiter, to *Budget) *Waiter {
	next := &Waiter{Woken: w.Woken, woken: w.woken, since: w.since, turn: w.turn, on: w.on}
	next.looks.Store(true)
	to.Join(next)
	w.on[len(w.on)-1].moved.Add(1)
	b.Leave(w)
	return next
}
