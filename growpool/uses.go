package growpool

import (
	"slices"
	"sync"

	"github.com/bufslab/bufslab/device"
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
