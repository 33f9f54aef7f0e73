package metal

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A Stream is a command queue, which begins each piece of work when the one before is done. It is
// a [device.Stream], safe for concurrent use.
type Stream struct {
	dev          *Device
	hw           *hardware
	queue, event id // the event's value is the number of the last batch that is done

	mu     sync.Mutex // the order of calls is that of the work
	closed bool
	lent   bool   // others have the queue
	open   *batch // takes work, and is not committed; changed under hardware.book, too

	// Under hardware.book: the batches that are committed and not over, the oldest first; the numbers of the
	// last that was committed and of the last that is over; the first error, and the batch of it.
	pending           []*batch
	committed, reaped uint64
	err               error
	failed            uint64
	reaping           bool
}

// NewStream returns a queue of its own.
func (d *Device) NewStream() (device.Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	q, err := d.hw.newQueue()
	if err != nil {
		return nil, err
	}
	e := d.hw.ask(d.hw.gpu, selNewEvent)
	if e == 0 {
		d.hw.release(q)
		return nil, isNil(selNewEvent, "a stream of %s", d.base.Name())
	}
	return &Stream{dev: d, hw: d.hw, queue: q, event: e}, nil
}

// Queue returns the id<MTLCommandQueue>, for kernels of another binding, and has the work so far begin. Record and Sync
// take what was committed to it before them for work of the stream, whose failures the stream does not notice. The
// queue is valid until Close, and 0 after it.
func (s *Stream) Queue() uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	s.commit()
	s.lent = true
	return uintptr(s.queue)
}

// do runs one call. Its error is the stream's from then on.
func (s *Stream) do(call func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.dev.base.StreamClosed()
	}
	if err := s.noted(s.hw.usable()); err != nil {
		return err
	}
	if err := call(); err != nil {
		return s.noted(err)
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
	p, err := s.hw.locate(b)
	if err == nil {
		p.drop()
	}
	return err
}

// noted returns the first error of the stream, which is err if there was none before. What is open
// was asked for before err, and is done.
func (s *Stream) noted(err error) error {
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	s.fail(s.committed+1, err)
	return s.err
}

// point commits what is open and returns the number that comes after all work so far, that of others
// on the queue too. The caller has mu.
func (s *Stream) point() (uint64, error) {
	if s.lent {
		if _, err := s.batch(); err != nil {
			return 0, err
		}
	}
	s.commit()
	return s.next() - 1, nil
}

// drain waits until nothing is under way. The caller has mu.
func (s *Stream) drain() error {
	number, err := s.point()
	if err != nil {
		return err
	}
	s.finish(number)
	return s.noted(nil)
}

// Sync waits for all work. It does not keep other goroutines from enqueuing.
func (s *Stream) Sync() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.dev.base.StreamClosed()
	}
	number, err := s.point()
	s.mu.Unlock()
	s.finish(number)
	if err == nil {
		err = s.hw.usable()
	}
	return s.noted(err)
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
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	s.hw.release(s.queue)
	s.hw.release(s.event)
	s.queue, s.event = 0, 0
	return nil
}
