package device

import (
	queue "container/heap"
	"fmt"
	"time"
)

// A SimStream is the Stream of a [Sim]. What its work takes, and how late it is
// done, is for [Sim.Costs] and [Sim.Late] to say; without them it is done
// within the call. Faults count calls when they are made, and show when the
// work would have been done: at the call itself where that is now, else at a
// later call, an event or Sync. Memory that was freed before fails the stream
// with ErrUnavailable, and counts in SimStats.UsedAfterFree.
type SimStream struct {
	dev    *Sim
	tail   time.Duration // when the last work ends
	err    error         // of the first work that failed
	at     uint64        // its number
	closed bool
}

// NewStream returns a *SimStream. Its calls strike the faults of the device and
// count in the same statistics.
func (s *Sim) NewStream() (Stream, error) {
	if err := s.strike(callOther); err != nil {
		return nil, err
	}
	return &SimStream{dev: s}, nil
}

func (s *SimStream) Copy(dst, src Block) error {
	return s.enqueue(func() (*simWork, error) { return s.dev.planCopy(dst, src) })
}

func (s *SimStream) Fill(dst Block, value byte) error {
	return s.enqueue(func() (*simWork, error) { return s.dev.planFill(dst, value) })
}

// Launch enqueues a kernel: a function that runs on the device for a time, on
// the bytes of blocks of this device that do not overlap, in the order of args. What it leaves in
// them is written back. It is called under the device's lock, so it must not
// call the device or its streams, and must not keep the slices.
func (s *SimStream) Launch(time time.Duration, kernel func(args ...[]byte), args ...Block) error {
	return s.enqueue(func() (*simWork, error) { return s.dev.planLaunch(time, kernel, args) })
}

// enqueue puts the work of a plan at the end of the stream. An error of the
// plan is one of its arguments, and fails the stream behind what is enqueued.
func (s *SimStream) enqueue(plan func() (*simWork, error)) error {
	d := s.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	w, err := plan()
	if err != nil {
		s.fail(d.number(), err)
		return s.err
	}
	s.put(w)
	if w.waits {
		d.reach(w.end)
	}
	return s.err
}

// put gives work its place and its time.
func (s *SimStream) put(w *simWork) {
	d := s.dev
	w.stream, w.number = s, d.number()
	w.end = d.occupy(w.engine, w.cost, s.tail) + d.delay()
	s.tail = w.end
	queue.Push(&d.queue, w)
	d.reach(d.now)
}

// begin is the first line of every call: it takes its time and returns the
// error of a stream or device that does no more work.
func (s *SimStream) begin() error {
	if s.closed {
		return streamClosed{s.dev.name}
	}
	s.dev.tick()
	if s.err != nil {
		return s.err
	}
	return s.dev.usable()
}

// number returns the next number of a piece of work or an event.
func (s *Sim) number() uint64 {
	s.numbers++
	return s.numbers
}

// fail makes err the error of the stream, unless work before has failed.
func (s *SimStream) fail(at uint64, err error) {
	if s.err == nil || at < s.at {
		s.err, s.at = err, at
	}
}

// failed reports whether work before the given one has failed.
func (s *SimStream) failed(before uint64) bool { return s.err != nil && s.at < before }

// Record strikes no fault, but fails on a lost device.
func (s *SimStream) Record() (Event, error) {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if err := s.begin(); err != nil {
		return nil, err
	}
	if s.dev.faults.lost {
		return nil, s.dev.errLost()
	}
	return &simEvent{stream: s, number: s.dev.number(), at: s.tail}, nil
}

// Wait of an event of another device waits within the call.
func (s *SimStream) Wait(e Event) error {
	own, ok := e.(*simEvent)
	var foreign error
	if ok = ok && own.stream.dev == s.dev; !ok {
		foreign = e.Sync()
	}
	return s.enqueue(func() (*simWork, error) {
		if !ok {
			return &simWork{engine: engineNone, do: func() error { return foreign }}, nil
		}
		s.tail = max(s.tail, own.at)
		return &simWork{engine: engineNone, do: own.err}, nil
	})
}

func (s *SimStream) Sync() error {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if s.closed {
		return streamClosed{s.dev.name}
	}
	s.dev.tick()
	s.dev.reach(s.tail)
	return s.err
}

func (s *SimStream) Close() error {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if s.closed {
		return streamClosed{s.dev.name}
	}
	s.dev.tick()
	s.dev.reach(s.tail)
	s.closed = true
	return nil
}

// A simEvent is a moment of a stream, known when it is recorded.
type simEvent struct {
	stream *SimStream
	number uint64
	at     time.Duration
}

// err is the error of the work before, once the clock has got there.
func (e *simEvent) err() error {
	if e.stream.failed(e.number) {
		return e.stream.err
	}
	return nil
}

// Done moves the clock on while it is false, so that who asks for long enough
// will hear that it is true.
func (e *simEvent) Done() bool {
	d := e.stream.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	done := e.at <= d.now || d.faults.lost
	if !done {
		d.reach(d.now + pollTime)
	}
	return done
}

func (e *simEvent) Sync() error {
	d := e.stream.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	d.reach(e.at)
	return e.err()
}

func (s *Sim) errLost() error { return fmt.Errorf("device: %s: %w", s.name, ErrDeviceLost) }
