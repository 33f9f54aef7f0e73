package opencl

// What a stream has under way, and why it failed.

// work is a command that was enqueued. Each waits for the one before, so
// that of those behind one that fails none is done.
type work struct {
	done   eventID
	number int    // how much work there was before
	cause  *Event // of another stream, which it waits for too
	call   string
	detail string
}

// push makes w the last work of the stream.
func (s *Stream) push(w work) {
	s.ctx.book.Lock()
	defer s.ctx.book.Unlock()
	w.number = s.count
	s.count++
	s.pending = append(s.pending, w)
}

// last returns the event of the last work, for the caller to release, and 0
// where that is over: there are drivers that wait for ever for work that has failed.
func (s *Stream) last() eventID {
	s.ctx.book.Lock()
	defer s.ctx.book.Unlock()
	s.reap()
	if len(s.pending) == 0 {
		return 0
	}
	e := s.pending[len(s.pending)-1].done
	s.ctx.RetainEvent(e)
	return e
}

// failure returns the first error of the stream, which is err if there was
// none before.
func (s *Stream) failure(err error) error {
	s.ctx.book.Lock()
	defer s.ctx.book.Unlock()
	s.reap()
	s.fail(s.count, err)
	return s.err
}

// fail makes err the error of the stream if it is the first. The caller has book.
func (s *Stream) fail(good int, err error) {
	if s.err == nil && err != nil {
		s.err, s.good = err, good
	}
}

// reap looks at the work that is over, in order, so that the first to fail
// is found first. Streams may have waited for each other: what is looked at
// already is not looked at again from there. The caller has book.
func (s *Stream) reap() {
	if s.reaping {
		return
	}
	s.reaping = true
	defer func() { s.reaping = false }()
	for len(s.pending) > 0 {
		w := s.pending[0]
		over, k := s.ctx.outcome(w.done)
		if !over {
			return
		}
		s.pending = s.pending[1:]
		s.ctx.ReleaseEvent(w.done)
		if w.cause != nil {
			s.fail(w.number, w.cause.failure())
		}
		s.fail(w.number, s.ctx.failed(k, w.call, "%s", w.detail))
	}
	s.pending = nil
}
