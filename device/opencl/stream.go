package opencl

import (
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A Stream is a queue of a device, which begins each piece of work when the
// one before is done. It is a [device.Stream], safe for concurrent use. Copies from
// and to memory of opencl:N:pinned and opencl:N:svm-fine return at once, as those
// within the device do; other host memory is waited for.
type Stream struct {
	dev   *Device
	ctx   *context
	queue queueID

	mu     sync.Mutex // the order of calls is that of the work
	closed bool

	// Under context.book: what is under way, the oldest first, how much there
	// was in all, and the first error with how much there was before it.
	pending []work
	count   int
	err     error
	good    int
	reaping bool
}

// NewStream returns a queue of its own.
func (d *Device) NewStream() (device.Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	q, err := d.ctx.newQueue()
	if err != nil {
		return nil, err
	}
	d.ctx.retain()
	return &Stream{dev: d, ctx: d.ctx, queue: q}, nil
}

// Queue returns the cl_command_queue, which is in order, for kernels of
// another binding. That one of them fails the stream does not notice. It is valid until Close.
func (s *Stream) Queue() uintptr { return uintptr(s.queue) }

// do runs one call. Its error is the stream's from then on.
func (s *Stream) do(call func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed()
	}
	if err := s.failure(nil); err != nil {
		return err
	}
	if err := call(); err != nil {
		return s.failure(err)
	}
	return nil
}

func (s *Stream) errClosed() error {
	return fmt.Errorf("opencl: stream of %s: %w", s.dev.name, device.ErrClosed)
}

// add enqueues a command behind all others, and behind cause if there is one. It
// returns the event where it was enqueued, whatever came after. The caller has mu.
func (s *Stream) add(c command, cause *Event, detail string, args ...any) (eventID, error) {
	w := work{cause: cause, detail: fmt.Sprintf(detail, args...)}
	k, call := c(s.queue, s.before(cause), &w.done)
	if err := s.ctx.failed(k, call, "%s", w.detail); err != nil {
		return 0, err
	}
	s.ctx.book.Lock()
	w.call, w.number = call, s.count
	s.count++
	s.pending = append(s.pending, w)
	s.ctx.book.Unlock()
	return w.done, s.ctx.failed(s.ctx.Flush(s.queue), "clFlush", "%s", w.detail)
}

// before lists what the next command has to wait for: not what is over, as
// there are drivers that then wait for ever if it has failed.
func (s *Stream) before(cause *Event) (list []eventID) {
	s.ctx.book.Lock()
	defer s.ctx.book.Unlock()
	s.reap()
	if n := len(s.pending); n > 0 {
		list = append(list, s.pending[n-1].done)
	}
	if cause != nil {
		list = append(list, cause.id)
	}
	return list
}

// marker returns the event of a command that does nothing. The caller has mu,
// and releases it.
func (s *Stream) marker() (done eventID, err error) {
	n, list := after(s.before(nil))
	k := s.ctx.EnqueueMarker(s.queue, n, list, &done)
	if err := s.ctx.failed(k, "clEnqueueMarkerWithWaitList", "a stream of %s", s.dev.name); err != nil {
		return 0, err
	}
	if err := s.ctx.failed(s.ctx.Flush(s.queue), "clFlush", "a stream of %s", s.dev.name); err != nil {
		s.ctx.ReleaseEvent(done)
		return 0, err
	}
	return done, nil
}

// drain waits until nothing is under way. The caller has mu.
func (s *Stream) drain() error {
	m, err := s.marker()
	if err != nil {
		return err
	}
	return s.settle(m)
}

// settle waits for an event of the stream, releases it, and says why it failed.
func (s *Stream) settle(e eventID) error {
	err := s.ctx.finish(e, "clWaitForEvents", "a stream of %s", s.dev.name)
	return s.failure(err)
}

// Sync waits for everything that is under way, kernels of others too.
func (s *Stream) Sync() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.errClosed()
	}
	m, err := s.marker()
	s.mu.Unlock()
	if err != nil {
		return s.failure(err)
	}
	return s.settle(m)
}

// Close waits for the work and gives the queue back.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed()
	}
	s.closed = true
	_ = s.drain() // leaves its error, as it says
	s.ctx.ReleaseCommandQueue(s.queue)
	s.ctx.release()
	return nil
}
