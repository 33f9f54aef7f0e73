package device

// A call is a kind of call that can be made to fail.
type call int

const (
	callAlloc call = iota
	callCopy
	callFill
	callLaunch
	callOther // counts for Lose only
	calls
)

// A fault strikes when its countdown gets to zero; below 1 it is not armed.
type fault struct {
	in  int
	err error
}

// strike counts one call and returns the error if it is the one.
func (f *fault) strike() error {
	f.in--
	if f.in == 0 {
		return f.err
	}
	f.in = max(f.in, 0)
	return nil
}

type faults struct {
	of   [calls]fault
	loss fault // counts calls of all kinds
	lost bool
}

// strike counts one call of a kind. Both countdowns advance on every call, so
// that one fault does not shift another; a lost device is lost for good.
func (f *faults) strike(c call) error {
	own := f.of[c].strike()
	if f.loss.strike() != nil {
		f.lost = true
	}
	if f.lost {
		return ErrDeviceLost
	}
	return own
}

// FailAlloc makes the n-th Alloc from now, of pinned memory too, fail with an
// error that wraps err, which must not be nil: ErrOutOfMemory, as a rule. 1 is the next call; 0 or
// less takes the fault back. One fault of a kind is armed at a time.
func (s *Sim) FailAlloc(n int, err error) { s.fail(callAlloc, n, err) }

// FailCopy is FailAlloc for Copy, that of streams included. No byte moves. It
// is the n-th that is enqueued, and fails when it would have been done.
func (s *Sim) FailCopy(n int, err error) { s.fail(callCopy, n, err) }

// FailFill is FailAlloc for Fill, which only streams have.
func (s *Sim) FailFill(n int, err error) { s.fail(callFill, n, err) }

// FailLaunch is FailAlloc for [SimStream.Launch].
func (s *Sim) FailLaunch(n int, err error) { s.fail(callLaunch, n, err) }

func (s *Sim) fail(c call, n int, err error) {
	if err == nil {
		panic("device: sim told to fail with a nil error")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.of[c] = fault{in: max(n, 0), err: err}
}

// Lose makes the n-th call from now and all that follow fail with an error
// that wraps ErrDeviceLost, those of streams included: what is enqueued and
// not done at that moment is never done. Alloc, Copy, Fill, Launch, MemInfo, NewStream and Pinned
// count; Free does not and goes on to work. 1 is the next call; 0 or less takes the
// fault back unless the device is lost already, for which there is no cure.
func (s *Sim) Lose(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.loss = fault{in: max(n, 0), err: ErrDeviceLost}
}
