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

	// Under context.book: what is under way, the oldest first, and the first error.
	pending []work
	err     error
}

// work is a command that was enqueued. Each waits for the one before, so
// that of those behind one that fails none is done.
type work struct {
	done   eventID
	cause  *Event // of another stream, which it waits for too
	call   string
	detail string
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
		return fmt.Errorf("opencl: stream of %s: %w", s.dev.name, device.ErrClosed)
	}
	if err := s.failure(nil); err != nil {
		return err
	}
	if err := call(); err != nil {
		return s.failure(err)
	}
	return nil
}

// add enqueues a command behind all others, and behind cause if there is one. It
// returns the event where it was enqueued, whatever came after. The caller has mu.
func (s *Stream) add(c command, cause *Event, detail string, args ...any) (eventID, error) {
	w := work{cause: cause, detail: fmt.Sprintf(detail, args...)}
	k, call := c(s.queue, s.before(cause), &w.done)
	if err := s.ctx.failed(k, call, "%s", w.detail); err != nil {
		return 0, err
	}
	w.call = call
	s.ctx.book.Lock()
	s.pending = append(s.pending, w)
	s.ctx.book.Unlock()
	return w.done, s.ctx.failed(s.ctx.Flush(s.queue), "clFlush", "%s", w.detail)
}

// before lists what the next command has to wait for.
func (s *Stream) before(cause *Event) (list []eventID) {
	s.ctx.book.Lock()
	defer s.ctx.book.Unlock()
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
	if k == succeeded {
		k = s.ctx.Flush(s.queue)
	}
	return done, s.ctx.failed(k, "clEnqueueMarkerWithWaitList", "a stream of %s", s.dev.name)
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

// failure returns the first error of the stream, of which err is one if no
// other was before.
func (s *Stream) failure(err error) error {
	s.ctx.book.Lock()
	defer s.ctx.book.Unlock()
	s.reap()
	if s.err == nil {
		s.err = err
	}
	return s.err
}

// reap looks at the work that is over. The first to fail is the reason for
// all behind it, and what it waited for the reason for it. The caller has book.
func (s *Stream) reap() {
	for len(s.pending) > 0 {
		w := s.pending[0]
		over, k := s.ctx.outcome(w.done)
		if !over {
			return
		}
		s.pending = s.pending[1:]
		s.ctx.ReleaseEvent(w.done)
		if k == succeeded || s.err != nil {
			continue
		}
		s.err = s.ctx.failed(k, w.call, "%s", w.detail)
		if w.cause != nil {
			w.cause.stream.reap() // which ends: this stream has its error
			if err := w.cause.stream.err; err != nil {
				s.err = err
			}
		}
	}
	s.pending = nil
}

// Copy is Device.Copy in the order of the stream.
func (s *Stream) Copy(dst, src device.Block) error {
	var t transfer
	defer t.drop()
	var done eventID // of a copy to wait for
	err := s.do(func() (err error) {
		if err := s.dev.usable(); err != nil {
			return err
		}
		if err := t.find(s.ctx, dst, src); err != nil || t.n == 0 {
			return err
		}
		if !t.byQueue() {
			return s.byCPU(func() { copy(t.to.host, t.from.host) })
		}
		e, err := s.add(t.enqueue, nil, "%d bytes on %s", t.n, s.dev.name)
		if e != 0 && t.borrows() { // also where only the flush has failed
			done = e
			s.ctx.RetainEvent(e)
		}
		return err
	})
	if done == 0 {
		return err
	}
	return s.settle(done)
}

// byCPU does what only the CPU can, when its turn has come. The caller has mu.
func (s *Stream) byCPU(work func()) error {
	if err := s.drain(); err != nil {
		return err
	}
	work()
	return nil
}

// Fill sets every byte of dst.
func (s *Stream) Fill(dst device.Block, value byte) error {
	return s.do(func() error {
		if err := s.dev.usable(); err != nil {
			return err
		}
		if err := device.CheckBlock(dst); err != nil {
			return err
		}
		p, err := s.ctx.locate(dst)
		if err != nil || dst.Len == 0 {
			return err
		}
		defer p.drop()
		if p.mem == 0 && !p.fine {
			return s.byCPU(func() { fill(p.host, value) })
		}
		_, err = s.add(s.ctx.fill(p, dst.Len, &value), nil, "%d bytes on %s", dst.Len, s.dev.name)
		return err
	})
}

// fill is the command that sets n bytes of p.
func (c *context) fill(p place, size int, value *byte) command {
	return func(q queueID, wait []eventID, done *eventID) (code, string) {
		n, list := after(wait)
		if p.fine {
			return c.EnqueueSVMMemFill(q, p.ptr(), value, 1, uintptr(size), n, list, done), "clEnqueueSVMMemFill"
		}
		return c.EnqueueFillBuffer(q, p.mem, value, 1, p.off, uintptr(size), n, list, done), "clEnqueueFillBuffer"
	}
}

// fill sets every byte of m, by doubling: copy moves memory faster than a loop.
func fill(m []byte, value byte) {
	for i := range m[:min(1, len(m))] {
		m[i] = value
	}
	for n := 1; n < len(m); n *= 2 {
		copy(m[n:], m[:n])
	}
}

// Sync waits for everything that is under way, kernels of others too.
func (s *Stream) Sync() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("opencl: stream of %s: %w", s.dev.name, device.ErrClosed)
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
		return fmt.Errorf("opencl: stream of %s: %w", s.dev.name, device.ErrClosed)
	}
	s.closed = true
	_ = s.drain() // leaves its error, as it says
	s.ctx.ReleaseCommandQueue(s.queue)
	s.ctx.release()
	return nil
}
