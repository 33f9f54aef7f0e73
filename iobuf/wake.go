package iobuf

import (
	"context"
	"time"
)

// A waker ends the wait of a read when a context is done, by the read deadline.
type waker struct {
	deadline interface{ SetReadDeadline(time.Time) error }
	stop     func() bool
	woke     chan struct{} // closed when the deadline is set
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)

// wakeAt returns the waker of a read of c. It does nothing if ctx does not end or c has no deadline.
func wakeAt(ctx context.Context, c any) (w waker) {
	d, ok := c.(interface{ SetReadDeadline(time.Time) error })
	if !ok || ctx.Done() == nil {
		return w
	}
	w.deadline, w.woke = d, make(chan struct{})
	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.woke)
		_ = d.SetReadDeadline(longAgo) // or c is closed, and nobody waits
	})
	return w
}

// end is called after the read. It reports whether the read was woken, and then removes the deadline:
// the earlier deadline is not known.
func (w waker) end() (woken bool) {
	if w.stop == nil || w.stop() {
		return false
	}
	<-w.woke // or the next read had the deadline
	_ = w.deadline.SetReadDeadline(time.Time{})
	return true
}
