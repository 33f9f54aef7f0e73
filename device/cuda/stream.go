//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"sync"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// A stream is a queue of the driver and its first error. The lock makes the
// order of calls that of the work. Only a copy of pageable memory waits for the
// GPU under it.
type stream struct {
	mem   *memory
	mu    sync.Mutex
	queue cu.Stream
	err   error
	shut  bool
}

// NewStream returns a queue that does not wait for others, nor for the default stream of other users.
func (m *memory) NewStream() (device.Stream, error) {
	if err := m.Usable(); err != nil {
		return nil, err
	}
	q, err := m.queue()
	if err != nil {
		return nil, fmt.Errorf("cuda: stream of %s: %w", m.Name(), err)
	}
	return &stream{mem: m, queue: q}, nil
}

// work puts something into the queue unless the stream has failed.
func (s *stream) work(enqueue func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return s.mem.StreamClosed()
	}
	if s.err == nil {
		s.note(s.mem.Usable())
	}
	if s.err == nil {
		s.note(enqueue())
	}
	return s.err
}

// note keeps the first error. The caller has mu.
func (s *stream) note(err error) {
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("cuda: stream of %s: %w", s.mem.Name(), err)
	}
}

// Accepts makes a stream a [device.Accepter].
func (s *stream) Accepts(b device.Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return s.mem.StreamClosed()
	}
	if b.Len == 0 {
		return nil
	}
	_, err := s.mem.locate(b)
	return err
}

func (s *stream) Copy(dst, src device.Block) error {
	return s.work(func() error {
		c, err := s.mem.plan(dst, src)
		if err != nil {
			return err
		}
		return s.mem.do(func() error { return c.enqueue(s.queue) })
	})
}

func (s *stream) Fill(dst device.Block, value byte) error {
	return s.work(func() error { return s.mem.fill(dst, value, s.queue) })
}

func (s *stream) Record() (device.Event, error) {
	var e *event
	err := s.work(func() (err error) {
		e, err = s.mem.record(s.queue)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Wait leaves the waiting to the GPU where e is one of a GPU's, whichever.
func (s *stream) Wait(e device.Event) error {
	if own, is := e.(*event); is {
		return s.work(func() error { return own.holdUp(s.mem.gpu, s.queue) })
	}
	return s.work(func() error { return device.SyncEvent(e) })
}

// Sync waits for an event, not for the queue: others may enqueue meanwhile,
// and even close the stream.
func (s *stream) Sync() error {
	end, err := s.end()
	if err != nil {
		return err
	}
	err = end.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(err)
	return s.err
}

// end returns an event behind all that was enqueued, before an error or not.
func (s *stream) end() (*event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return nil, s.mem.StreamClosed()
	}
	e, err := s.mem.record(s.queue)
	if err != nil {
		s.note(err)
		return nil, s.err
	}
	return e, nil
}

// Close gives the queue back for reuse when there is nothing in it any more.
func (s *stream) Close() error {
	if s.closing() {
		return s.mem.StreamClosed()
	}
	_ = s.mem.do(s.queue.Synchronize)
	push(s.mem.gpu, &s.mem.queues, s.queue)
	return nil
}

// closing refuses all later work. It reports whether that was so before.
func (s *stream) closing() (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, s.shut = s.shut, true
	return was
}
