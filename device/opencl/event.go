package opencl

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
)

// An Event is a point in a [Stream]. Its cl_event is released when the collector
// finds the Event unreachable.
type Event struct {
	stream *Stream
	id     eventID
	count  int // of the stream's work before
}

// Record returns an event behind all work so far.
func (s *Stream) Record() (device.Event, error) {
	var e *Event
	err := s.do(func() error {
		id, err := s.marker()
		if err == nil {
			e = newEvent(s, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func newEvent(s *Stream, id eventID) *Event {
	c := s.ctx
	c.book.Lock()
	e := &Event{s, id, s.count}
	c.book.Unlock()
	c.retain()
	runtime.AddCleanup(e, func(id eventID) {
		c.ReleaseEvent(id)
		c.release()
	}, id)
	return e
}

// Wait leaves waiting for events of the same hardware to the driver; for
// others it waits here and now. An event of s itself is behind us already, and
// one that is over is not for the driver: see last.
func (s *Stream) Wait(e device.Event) error {
	o, ok := e.(*Event)
	if !ok || o.stream.ctx != s.ctx {
		return s.do(func() error { return device.SyncEvent(e) })
	}
	defer runtime.KeepAlive(o)
	return s.do(func() error {
		switch {
		case o.stream == s:
			return nil
		case o.Done():
			return o.Sync()
		}
		_, err := s.add(func(q queueID, wait []eventID, done *eventID) (code, string) {
			n, list := after(wait)
			return s.ctx.EnqueueBarrier(q, n, list, done), "clEnqueueBarrierWithWaitList"
		}, o, false, "a stream of %s", s.dev.base.Name())
		return err
	})
}

// Done reports whether the work before is over.
func (e *Event) Done() bool {
	defer runtime.KeepAlive(e)
	over, _ := e.stream.ctx.outcome(e.id)
	return over
}

// Sync waits until the work before is over, and returns why it was given up.
func (e *Event) Sync() error {
	defer runtime.KeepAlive(e)
	c := e.stream.ctx
	k := c.await(e.id)
	c.book.Lock()
	defer c.book.Unlock()
	if err := e.failure(); err != nil {
		return err
	}
	return c.failed(k, "clWaitForEvents", "a stream of %s", e.stream.dev.base.Name())
}

// failure is the error of the work before, if some of it has failed. It looks
// for that itself: what an event says of work that it waited for depends on the
// driver. The caller has book.
func (e *Event) failure() error {
	s := e.stream
	s.reap()
	if s.err != nil && s.good < e.count {
		return s.err
	}
	return nil
}
