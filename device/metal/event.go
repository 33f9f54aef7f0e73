package metal

import "github.com/bufslab/bufslab/device"

// An Event is a point in a [Stream]: all batches up to a number.
type Event struct {
	stream *Stream
	number uint64
}

// Record has the work so far begin, and returns an event behind it.
func (s *Stream) Record() (device.Event, error) {
	var e *Event
	err := s.do(func() error {
		number, err := s.point()
		e = &Event{s, number}
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Wait leaves waiting for events of the same GPU to the GPU; for others it waits here and now. An event of
// s itself is behind us already.
func (s *Stream) Wait(e device.Event) error {
	o, ok := e.(*Event)
	if !ok || o.stream.hw != s.hw {
		return s.do(func() error { return device.SyncEvent(e) })
	}
	return s.do(func() error {
		if o.stream == s {
			return nil
		}
		b, err := s.batch()
		if err != nil {
			return err
		}
		return s.awaits(b, o)
	})
}

// awaits makes what comes into a batch wait for an event of another stream. If the event is over, there is
// nothing to wait for, and its stream may be closed.
func (s *Stream) awaits(b *batch, e *Event) error {
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	if e.stream.reap(); e.stream.reaped >= e.number {
		return e.stream.failure(e.number)
	}
	s.hw.pooled(func() {
		s.closeEncoder(b)
		s.hw.tell(b.buffer, selEncodeWait, uintptr(e.stream.event), uintptr(e.number))
	})
	b.causes = append(b.causes, e)
	return nil
}

// Done reports whether the work before is over.
func (e *Event) Done() bool {
	over, _ := e.stream.over(e.number)
	return over
}

// Sync waits until the work before is over, and returns why it was given up.
func (e *Event) Sync() error {
	e.stream.finish(e.number)
	_, err := e.stream.over(e.number)
	return err
}
