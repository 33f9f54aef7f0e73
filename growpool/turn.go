package growpool

import "slices"

// A turn is whose turn it is with a key: one at a time, in the order in which
// they came. It is guarded by the entry's lock.
type turn struct {
	taken   bool
	waiting []chan struct{}
}

// join queues the caller; its turn has come when the channel is closed.
func (t *turn) join() chan struct{} {
	w := make(chan struct{})
	t.waiting = append(t.waiting, w)
	return w
}

// pass ends a turn and begins the next one's.
func (t *turn) pass() {
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	t.waiting = slices.Delete(t.waiting, 0, 1)
}

// leave gives up waiting, and the turn if it has just come.
func (t *turn) leave(w chan struct{}) {
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		return
	}
	t.pass()
}
