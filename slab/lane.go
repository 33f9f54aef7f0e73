package slab

import (
	"slices"

	"github.com/bufslab/bufslab/device"
)

// A waiter is a block that was released before the streams that use it were
// done with it.
type waiter struct {
	entry
	uses   []use  // not known to be done
	number uint64 // counts up
	lost   bool   // quarantined: not to be handed out again
}

// A use is a stream's, until an event of it.
type use struct {
	stream device.Stream
	event  device.Event
}

// record returns the uses that are not over yet. A stream that cannot record
// is waited for, whatever it says then.
func record(on []device.Stream) (uses []use) {
	for _, s := range on {
		e, err := s.Record()
		if err != nil {
			_ = s.Sync()
			continue
		}
		uses = append(uses, use{s, e})
	}
	return uses
}

// over drops the uses at the front that are done, and reports whether all are.
func (w *waiter) over() bool {
	for len(w.uses) > 0 && w.uses[0].event.Done() {
		w.uses = w.uses[1:]
	}
	return len(w.uses) == 0
}

// sync waits for all uses. What an event says of its stream's failure is for
// others: nothing uses the block any more.
func (w *waiter) sync() {
	for _, u := range w.uses {
		_ = u.event.Sync()
	}
}

// A lane is what waits for a stream before it waits for anything else, the
// oldest first.
type lane struct {
	stream device.Stream
	queue  []*waiter
}

// put lets w wait. It reports false where there is nothing to wait for, or
// nobody is to wait any more.
func (k *streams) put(w *waiter) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.over() || k.stopped {
		return false
	}
	k.count.Add(1)
	if !w.lost {
		k.waiting.add(w.s.len)
	}
	k.enterLocked(w)
	return true
}

// removeLocked takes the waiter at i of a lane out.
func (k *streams) removeLocked(l *lane, i int) *waiter {
	w := k.leaveLocked(l, i)
	k.count.Add(-1)
	if !w.lost {
		k.waiting.sub(w.s.len)
	}
	return w
}

// enterLocked puts w at the end of its lane, the first one in a new one.
func (k *streams) enterLocked(w *waiter) {
	l := k.laneLocked(w.uses[0].stream)
	if l == nil {
		l = &lane{stream: w.uses[0].stream}
		k.lanes = append(k.lanes, l)
	}
	k.numbers++
	w.number = k.numbers
	l.queue = append(l.queue, w)
}

// leaveLocked is the reverse. No trace is left: a lane must not keep a slot
// alive whose owner is to be found gone.
func (k *streams) leaveLocked(l *lane, i int) *waiter {
	w := l.queue[i]
	if l.queue = slices.Delete(l.queue, i, i+1); len(l.queue) == 0 {
		k.lanes = slices.DeleteFunc(k.lanes, func(x *lane) bool { return x == l })
	}
	return w
}

// laneLocked returns the lane of a stream, or nil. There are as many as
// streams that work, so a list is all it takes.
func (k *streams) laneLocked(s device.Stream) *lane {
	if i := slices.IndexFunc(k.lanes, func(l *lane) bool { return l.stream == s }); i >= 0 {
		return k.lanes[i]
	}
	return nil
}

// done takes out a waiter whose uses are over, or returns nil. A stream does
// its work in order, so the first of a lane is enough to look at.
func (k *streams) done() *waiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := 0; i < len(k.lanes); {
		l := k.lanes[i]
		w := l.queue[0]
		switch {
		case w.over():
			return k.removeLocked(l, 0)
		case w.uses[0].stream == l.stream:
			i++
		default: // its next use is another stream's
			k.enterLocked(k.leaveLocked(l, 0))
		}
	}
	return nil
}

// lookBack bounds how far own looks for a block: sizes repeat, so what fits is near.
const lookBack = 256

// own takes out the smallest of the latest waiters for s alone that has size
// bytes, and at most twice as many, or returns nil.
func (k *streams) own(s device.Stream, size int) *waiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.laneLocked(s)
	if l == nil {
		return nil
	}
	best := -1
	for i := len(l.queue) - 1; i >= max(0, len(l.queue)-lookBack); i-- {
		w := l.queue[i]
		if len(w.uses) > 1 || !w.fits(size, size) || best >= 0 && l.queue[best].s.len <= w.s.len {
			continue
		}
		if best = i; w.s.len == size {
			break
		}
	}
	if best < 0 {
		return nil
	}
	return k.removeLocked(l, best)
}

// fits reports whether w can be handed out for size bytes, with so many to spare.
func (w *waiter) fits(size, spare int) bool {
	return !w.lost && w.s.len >= size && w.s.len-size <= spare
}

// oldest takes out the one that has waited longest of those that are wanted,
// or returns nil.
func (k *streams) oldest(wanted func(*waiter) bool) *waiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	var at *lane
	best := -1
	for _, l := range k.lanes {
		i := slices.IndexFunc(l.queue, wanted)
		if i >= 0 && (at == nil || l.queue[i].number < at.queue[best].number) {
			at, best = l, i
		}
	}
	if at == nil {
		return nil
	}
	return k.removeLocked(at, best)
}

// stop makes put refuse from now on.
func (k *streams) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
}
