// Package budget is memory that several pools draw on and that may refuse them: a Limit, a device,
// or the upstream of one pool alone. It knows who holds the memory and who waits for it, and
// nothing of pools but what [Pool] says.
//
//	budget.go   what waits and what makes room
//	members.go  who holds the memory
//	queue.go    the calls that wait for one budget
//	order.go    whose turn it is, where budgets nest
//	devices.go  the budget of each device of the process
package budget

import (
	"sync"
	"sync/atomic"
)

// A Budget is known by its members. A call that waits for memory is in the queue of the budget that
// refused: all that makes room there comes from the members.
//
// While a call waits, the pools among them keep nothing in caches. So each Release goes to the
// strategy, and from there wakes the call that leads the queue: no hit has to look whether a call
// waits. Stopping the caches has to come first, then a try that empties them, then the wait: what is
// released before the try is found by it, what comes later wakes.
//
// A try cannot see memory that another call has in hand, on its way between upstream and the
// strategy. Such a call either holds the pool's reclaimMu, which the try takes, or wakes the queue when
// it ends, also when it fails. A try itself never wakes: it would wake itself, for ever. So tries
// of queues whose pools have a device in common take turns: see Lead.
//
// The zero Budget is one that nothing bounds.
type Budget struct {
	Drawn func() int64 // bytes that are out of it; nil if it does not tell
	Left  func() int64 // bytes that it would still give; nil if it does not tell

	Around  *Budget                    // that counts for this one; nil if none does
	Promise func() (bytes, used int64) // that Around has promised to this one; nil for none

	Queue   Queue // joined and left by Join and Leave
	members Members
	leading sync.Mutex   // held around a try; before a pool's reclaimMu
	moved   atomic.Int64 // waiters from one queue to another, if this is their widest budget
}

// A Pool is a member that hands memory out to calls that may wait.
type Pool interface {
	Member
	// Hurry has all that is released go to the strategy, until Relax. It returns when no
	// goroutine does otherwise any more.
	Hurry()
	Relax() // undoes Hurry
	// GiveNow is FreeHeld without a wait for streams.
	GiveNow()
	// Free returns the bytes that the strategy of the pool has free, and Managed all that it has.
	Free() int64
	Managed() int64
	// Gets returns how many buffers the pool has handed out, but for those of tries that failed as a whole.
	Gets() int64
	// WakeAll has all calls look again that wait for a budget of the pool.
	WakeAll()
	// AddCalm adds what the pool has got and manages to c. It reports false where anything of
	// it is out or on its way.
	AddCalm(c *Calm) bool
	// Watch has the pool call Queue.Changed of its budgets where a call may find room from now on, until it has done
	// so once. It reports false if there may be room of b without a call.
	Watch(b *Budget) bool
}

// Share enters a member. If calls wait, a pool hurries from now on.
func (b *Budget) Share(m Member) {
	b.members.mu.Lock()
	defer b.members.mu.Unlock()
	defer b.Queue.Changed()
	if b.members.add(m) && b.Queue.Len() > 0 {
		hurry(m)
	}
}

// Unshare undoes Share. It reports whether no member is left.
func (b *Budget) Unshare(m Member) (last bool) {
	b.members.mu.Lock()
	defer b.members.mu.Unlock()
	defer b.Queue.Changed()
	if _, in := b.members.set[m]; in && b.Queue.Len() > 0 {
		relax(m)
	}
	delete(b.members.set, m)
	return len(b.members.set) == 0
}

// Join has w wait. The first one stops the caches of all pools.
func (b *Budget) Join(w *Waiter) {
	b.members.mu.Lock()
	defer b.members.mu.Unlock()
	if b.Queue.join(w) {
		for m := range b.members.set {
			hurry(m)
		}
	}
}

// Leave undoes Join. What w leaves of a promise is for the next call that the promise may serve.
func (b *Budget) Leave(w *Waiter) {
	b.leave(w)
	for _, on := range w.on {
		on.wakeAround()
	}
}

func (b *Budget) leave(w *Waiter) {
	b.members.mu.Lock()
	defer b.members.mu.Unlock()
	if b.Queue.leave(w) {
		for m := range b.members.set {
			relax(m)
		}
	}
}

func hurry(m Member) {
	if p, ok := m.(Pool); ok {
		p.Hurry()
	}
}

func relax(m Member) {
	if p, ok := m.(Pool); ok {
		p.Relax()
	}
}

// Lead is held around a try of a call that leads a queue, on the widest budget of its pool. It
// returns what ends that.
func (b *Budget) Lead() (end func()) {
	b.leading.Lock()
	return b.leading.Unlock
}

// Watch has all members watch. If changes is Queue.Changes later, nothing of b has changed since. It reports false if
// that may be wrong.
func (b *Budget) Watch() (changes uint64, ok bool) {
	changes = b.Queue.Changes()
	for _, m := range b.members.all() {
		if p, is := m.(Pool); !is || !p.Watch(b) {
			return 0, false
		}
	}
	return changes, true
}

// Members returns how many members there are.
func (b *Budget) Members() int { return b.members.Len() }

// Reclaim calls FreeHeld of one member after the other, but for one, until there is enough. It reports whether there
// is, and holds no lock meanwhile.
func (b *Budget) Reclaim(except Member, enough func() bool) bool {
	return b.members.reclaim(except, enough)
}

// GiveNow asks all members to give back what they can without a wait.
func (b *Budget) GiveNow() {
	for _, m := range b.members.all() {
		if p, ok := m.(Pool); ok {
			p.GiveNow()
		} else {
			m.FreeHeld()
		}
	}
}

// WakeMembers has all calls look again that wait for any budget of a member.
func (b *Budget) WakeMembers() {
	for _, m := range b.members.all() {
		if p, ok := m.(Pool); ok {
			p.WakeAll()
		}
	}
}

// A Room tells whether there may be memory that was not there before: see Exceeds.
type Room struct {
	bytes int64 // that the budget would still give, and that its pools have free
	gets  int64 // of its pools
}

// Exceeds reports whether there may be memory that was not there at an earlier time. To take memory and to give it
// back, as a try does that fails, makes no difference. After a Get of another call as many bytes as before may lie in
// other places, and so fit.
func (r Room) Exceeds(before Room) bool { return r.bytes > before.bytes || r.gets != before.gets }

// Room returns the room that there is now. The caller leads: during a try it is not what it is before and after.
func (b *Budget) Room() (r Room) {
	if b.Left != nil {
		r.bytes = b.Left()
	}
	for _, m := range b.members.all() {
		if p, ok := m.(Pool); ok {
			r.bytes += p.Free()
			r.gets += p.Gets()
			if b.Left == nil {
				r.bytes -= p.Managed()
			}
		}
	}
	return r
}

// A Calm is what the pools of a Budget have got in all, and manage.
type Calm struct{ Gets, Managed int64 }

// Calm reports that no member has anything out or on its way, and nobody else has: so nothing will
// come back. Where two calls return the same, there was no Get between them, and nothing has gone
// back upstream.
func (b *Budget) Calm() (c Calm, ok bool) {
	for _, m := range b.members.all() {
		p, ok := m.(Pool)
		if !ok || !p.AddCalm(&c) {
			return c, false
		}
	}
	return c, b.Drawn == nil || b.Drawn() <= c.Managed
}
