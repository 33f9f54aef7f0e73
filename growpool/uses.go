package growpool

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/underway"
)

// How a key's buffer passes from owner to owner while streams work on it.
//
// A key keeps its buffer after Release, so the slab.Pool does not see that the buffer has a new owner.
// The buffer itself knows its streams: Release records an event on each, and the next owner comes after
// these events. A buffer that its key loses goes back to the slab.Pool, which knows the same streams.

// uses are the streams that work on a buffer, each once.
type uses struct {
	mu      sync.Mutex // held across calls of streams and of the slab.Pool
	list    []use
	holders int // leases that have the buffer now: more than one after Ref.Get
}

// A use is a stream and its event. It has no event while the owner may still add work.
type use struct {
	stream device.Stream
	event  device.Event
}

// useOn notes that work on s uses the buffer, unless its owner has ended. From now on each Get of the
// key looks for streams.
func (b *buffer) useOn(s device.Stream, ended *atomic.Bool) error {
	if s == nil {
		return errNoStream
	}
	b.uses.mu.Lock()
	defer b.uses.mu.Unlock()
	if ended != nil && ended.Load() {
		return ErrReleased
	}
	if b.size == 0 {
		return nil
	}
	if err := b.handle.UsedOn(s); err != nil {
		return err
	}
	b.hide()
	if i := slices.IndexFunc(b.uses.list, func(x use) bool { return x.stream == s }); i >= 0 {
		b.uses.list[i].event = nil
		return nil
	}
	b.uses.list = append(b.uses.list, use{stream: s})
	return nil
}

// lookUnderWay reports a lease that ends while a stream works on its memory that the lease has not named: the next
// owner of the key would share it with that work. Memory that the key does not keep the slab.Pool looks at.
func (p *Pool[K]) lookUnderWay(b *buffer) {
	if p.ended != nil && b.size > 0 && b.now().refs() > 1 {
		p.ended(b.handle, underway.Ended{What: "growpool: lease", By: "UsedOn or AcquireOn", Named: b.uses.named()})
	}
}

// named returns the streams that the owner has named. Those of owners before have an event.
func (u *uses) named() (list []device.Stream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range u.list {
		if x.event == nil {
			list = append(list, x.stream)
		}
	}
	return list
}

// end says that the owner adds no more work.
func (u *uses) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.endLocked()
}

func (u *uses) endLocked() {
	for i := 0; i < len(u.list); {
		if u.list[i].recorded() {
			i++
		} else {
			u.list = slices.Delete(u.list, i, i+1)
		}
	}
}

// recorded gives a use its event. It reports false for a stream that cannot record: such a stream has
// failed or is closed, and has nothing under way after a Sync.
func (x *use) recorded() bool {
	if x.event != nil {
		return true
	}
	e, err := x.stream.Record()
	if err != nil {
		_ = x.stream.Sync()
		return false
	}
	x.event = e
	return true
}

// unsettled returns the events that a new owner has to come after, of all streams except s. It ends the
// uses that the last owner has left open, and forgets uses that are over.
func (u *uses) unsettled(s device.Stream) (events []device.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.endLocked()
	u.list = slices.DeleteFunc(u.list, func(x use) bool { return x.event.Done() })
	for _, x := range u.list {
		if x.stream != s {
			events = append(events, x.event)
		}
	}
	return events
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
