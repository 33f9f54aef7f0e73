package device

import "sync"

// A mover is the part of a device that its streams use.
type mover interface {
	Usable() error
	StreamClosed() error
	Copy(dst, src Block) error
	fill(dst Block, value byte) error
}

// An immediate stream does its work within the call: the devices of this package
// gain nothing from later work. Its lock gives the work the order of the calls.
// After the first error no work is done, and every method except Close returns
// that error, so that a program that looks only at Sync misses nothing.
type immediate struct {
	dev    mover
	mu     sync.Mutex
	err    error // the first one; after Close it is ErrClosed
	closed bool
}

func newImmediate(d mover) (Stream, error) {
	if err := d.Usable(); err != nil {
		return nil, err
	}
	return &immediate{dev: d}, nil
}

// do is one piece of work.
func (s *immediate) do(work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = work()
	}
	return s.err
}

func (s *immediate) Copy(dst, src Block) error {
	return s.do(func() error { return s.dev.Copy(dst, src) })
}

func (s *immediate) Fill(dst Block, value byte) error {
	return s.do(func() error { return s.dev.fill(dst, value) })
}

// Wait waits here and now: e may be of a device that works late.
func (s *immediate) Wait(e Event) error { return s.do(func() error { return SyncEvent(e) }) }

func (s *immediate) Sync() error { return s.do(func() error { return nil }) }

func (s *immediate) Record() (Event, error) {
	if err := s.Sync(); err != nil {
		return nil, err
	}
	return past{}, nil
}

// Accepts makes it an [Accepter]: all memory that the CPU reaches is memory of a host's stream.
func (s *immediate) Accepts(b Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.err
	}
	h, ok := s.dev.(hostMemory)
	if !ok || b.Len == 0 {
		return nil
	}
	_, err := HostBytes(h.Name(), b)
	return err
}

func (s *immediate) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.err
	}
	s.closed, s.err = true, s.dev.StreamClosed()
	return nil
}

// past is an event that has happened, as all events of an immediate stream have.
type past struct{}

func (past) Done() bool  { return true }
func (past) Sync() error { return nil }
