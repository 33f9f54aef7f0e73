package opencl

import (
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A Stream is a queue of a device, which begins each piece of work when the
// one before is done. It is a [device.Stream], safe for concurrent use. A copy
// returns at once where both blocks are memory of this package, pinned memory for
// instance. A copy from or to other host memory returns when it is done.
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
	if err := d.begin(); err != nil {
		return nil, err
	}
	defer d.ctx.release()
	q, err := d.ctx.newQueue()
	if err != nil {
		return nil, err
	}
	d.ctx.retain()
	return &Stream{dev: d, ctx: d.ctx, queue: q}, nil
}

// Queue returns the cl_command_queue, which is in order, for kernels of another
// binding. The stream does not notice when such a kernel fails. The queue is valid
// until Close.
func (s *Stream) Queue() uintptr { return uintptr(s.queue) }

// do runs one call. Its error is the stream's from then on.
func (s *Stream) do(call func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.dev.base.StreamClosed()
	}
	if err := s.failure(nil); err != nil {
		return err
	}
	if err := call(); err != nil {
		return s.failure(err)
	}
	return nil
}

// Accepts makes a Stream a [device.Accepter].
func (s *Stream) Accepts(b device.Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.dev.base.StreamClosed()
	}
	if b.Len == 0 {
		return nil
	}
	p, err := s.ctx.locate(b)
	if err == nil {
		p.drop()
	}
	return err
}

// behind enqueues a command behind all others, and behind cause if there is one.
// The caller has mu.
func (s *Stream) behind(cause *Event, c command) (done eventID, k code, call string) {
	var wait []eventID
	last := s.last()
	if last != 0 {
		wait = append(wait, last)
		defer s.ctx.ReleaseEvent(last)
	}
	if cause != nil {
		wait = append(wait, cause.id)
	}
	k, call = c(s.queue, wait, &done)
	return done, k, call
}

// add makes a command work of the stream, the last of all. Where keep is set
// the caller gets the event, to release, if there is one: also where what came
// after has failed. The flush makes the device begin, which it need not do
// before a call waits: a program computes meanwhile, and polls events. The
// caller has mu.
func (s *Stream) add(c command, cause *Event, keep bool, detail string, args ...any) (kept eventID, err error) {
	w := work{cause: cause, detail: fmt.Sprintf(detail, args...)}
	done, k, call := s.behind(cause, c)
	if err := s.ctx.failed(k, call, "%s", w.detail); err != nil {
		return 0, err
	}
	if keep { // before anybody else can see it, and release it
		s.ctx.RetainEvent(done)
		kept = done
	}
	w.done, w.call = done, call
	s.push(w)
	return kept, s.ctx.failed(s.ctx.Flush(s.queue), "clFlush", "%s", w.detail)
}

// marker returns the event of a command that does nothing. The caller has mu,
// and releases it.
func (s *Stream) marker() (eventID, error) {
	done, k, call := s.behind(nil, func(q queueID, wait []eventID, done *eventID) (code, string) {
		n, list := after(wait)
		return s.ctx.EnqueueMarker(q, n, list, done), "clEnqueueMarkerWithWaitList"
	})
	if err := s.ctx.failed(k, call, "a stream of %s", s.dev.base.Name()); err != nil {
		return 0, err
	}
	if err := s.ctx.failed(s.ctx.Flush(s.queue), "clFlush", "a stream of %s", s.dev.base.Name()); err != nil {
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

// settle waits for an event of the stream, releases it, and says why it
// failed. It needs no lock, as an event outlives its queue.
func (s *Stream) settle(e eventID) error {
	err := s.ctx.failed(s.ctx.finish(e), "clWaitForEvents", "a stream of %s", s.dev.base.Name())
	return s.failure(err)
}

// Sync waits for everything that is under way, kernels of others too. It does
// not keep other goroutines from enqueuing: it waits for a point in the queue,
// not for the queue, which Close may give back meanwhile.
func (s *Stream) Sync() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.dev.base.StreamClosed()
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
		return s.dev.base.StreamClosed()
	}
	s.closed = true
	_ = s.drain() // leaves its error, as it says
	s.ctx.ReleaseCommandQueue(s.queue)
	s.ctx.release()
	return nil
}
