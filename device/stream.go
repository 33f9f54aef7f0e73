package device

import "fmt"

// A mover is the part of a device that its streams use.
type mover interface {
	Name() string
	usable() error
	Copy(dst, src Block) error
	fill(dst Block, value byte) error
}

// An immediate stream does its work within the call: the devices of this
// package have nothing to gain from doing it later. The first error sticks.
// From then on no work is done and every method but Close returns it, so that
// a program that looks at Sync alone misses nothing.
type immediate struct {
	dev mover
	err error
}

func newImmediate(d mover) (Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	return &immediate{dev: d}, nil
}

func (s *immediate) Copy(dst, src Block) error {
	if s.err == nil {
		s.err = s.dev.Copy(dst, src)
	}
	return s.err
}

func (s *immediate) Fill(dst Block, value byte) error {
	if s.err == nil {
		s.err = s.dev.fill(dst, value)
	}
	return s.err
}

func (s *immediate) Record() (Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	return past{}, nil
}

// Wait waits here and now: e may be of a device that works late.
func (s *immediate) Wait(e Event) error {
	if s.err == nil {
		s.err = e.Sync()
	}
	return s.err
}

func (s *immediate) Sync() error { return s.err }

// Close needs no flag of its own: being closed is an error that sticks.
func (s *immediate) Close() error {
	if closed, ok := s.err.(streamClosed); ok {
		return closed
	}
	s.err = streamClosed{s.dev.Name()}
	return nil
}

type streamClosed struct{ name string }

func (e streamClosed) Error() string {
	return fmt.Sprintf("device: stream of %s: %v", e.name, ErrClosed)
}
func (e streamClosed) Unwrap() error { return ErrClosed }

// past is an event that has happened: all there is on an immediate stream.
type past struct{}

func (past) Done() bool  { return true }
func (past) Sync() error { return nil }
