package check

// A Stuck is an event that does not come before End is called, for tests of what must not wait
// for one. It is a device.Event, which this package does not know.
type Stuck struct {
	Waiting chan struct{} // each Sync sends to it, before it waits
	end     chan struct{}
}

// NewStuck returns a Stuck that n goroutines can wait for.
func NewStuck(n int) *Stuck {
	return &Stuck{make(chan struct{}, n), make(chan struct{})}
}

// Done reports false.
func (s *Stuck) Done() bool { return false }

// Sync waits for End.
func (s *Stuck) Sync() error {
	s.Waiting <- struct{}{}
	<-s.end
	return nil
}

// End lets all waiters go.
func (s *Stuck) End() { close(s.end) }
