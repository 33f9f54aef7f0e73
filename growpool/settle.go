package growpool

import (
	"context"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/underway"
)

// lookUnderWay reports a lease that ends while a stream works on its memory that the lease has not named: the next
// owner of the key would share it with that work. Memory that the key does not keep the slab.Pool looks at.
func (p *Pool[K]) lookUnderWay(b *buffer) {
	if p.ended != nil && b.now().refs() > 1 {
		p.ended(b.handle, underway.Ended{What: "growpool: lease", By: "UsedOn or AcquireOn", Named: b.uses.named()})
	}
}

// unsettled returns the events that a request of n bytes has to come after, if the key's buffer serves
// the request. A larger request takes other memory, whose streams the slab.Pool knows. The caller holds
// e.mu.
func (e *entry[K]) unsettled(n int, s device.Stream) []device.Event {
	b := e.cur.Load()
	if b == nil || n > b.size {
		return nil
	}
	return b.uses.unsettled(s)
}

// settle has a lease come after the streams that use the key's buffer: its stream waits for them, or
// the caller if the lease has no stream. Meanwhile e.mu is unlocked, as a stream may wait at once for a
// stream of another device. The key is taken, so no other request gets its buffer.
func (p *Pool[K]) settle(wait patience, e *entry[K], n int) error {
	events := e.unsettled(n, wait.on)
	if len(events) == 0 {
		return nil
	}
	err := func() error {
		e.mu.Unlock()
		defer e.mu.Lock() // also if a stream panics
		if wait.on == nil {
			return p.syncAll(wait.ctx, events)
		}
		return waitOn(wait.on, events)
	}()
	if err == nil && p.closed.Load() {
		return ErrClosed
	}
	return err
}

// waitOn makes s wait for events.
func waitOn(s device.Stream, events []device.Event) error {
	for _, x := range events {
		if err := s.Wait(x); err != nil {
			return err
		}
	}
	return nil
}

// syncAll waits for events until ctx is done or the pool is closed. Errors of the work are left to its
// stream.
func (p *Pool[K]) syncAll(ctx context.Context, events []device.Event) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		syncEach(events)
	}()
	select {
	case <-done:
		return nil
	case <-p.life.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func syncEach(events []device.Event) {
	for _, x := range events {
		_ = x.Sync()
	}
}
