package upstreamtest

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A Stream is a stream whose work is done when the test says so.
type Stream struct {
	device.Stream       // nil: what no test needs
	Err           error // of every call
	Recorded      []*Event
	Waited        []device.Event // by Wait
	Syncs         int            // calls of Sync
}

// An Event is done after Sync.
type Event struct {
	mu    sync.Mutex
	done  bool
	syncs int
}

// Record returns a new event.
func (s *Stream) Record() (device.Event, error) {
	if s.Err != nil {
		return nil, s.Err
	}
	e := &Event{}
	s.Recorded = append(s.Recorded, e)
	return e, nil
}

// Wait notes the event.
func (s *Stream) Wait(e device.Event) error {
	if s.Err == nil {
		s.Waited = append(s.Waited, e)
	}
	return s.Err
}

// Sync counts.
func (s *Stream) Sync() error { s.Syncs++; return s.Err }

// Finish lets all that was recorded happen.
func (s *Stream) Finish() {
	for _, e := range s.Recorded {
		_ = e.Sync()
	}
}

// Synced returns the number of events that were waited for.
func (s *Stream) Synced() (n int) {
	for _, e := range s.Recorded {
		n += e.syncs
	}
	return n
}

// Done reports whether the event was waited for.
func (e *Event) Done() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.done
}

// Sync lets the event happen.
func (e *Event) Sync() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.done {
		e.done = true
		e.syncs++
	}
	return nil
}
