package metal

// A batch is a command buffer of a stream, and what is to be known of it until its work is over.
//
// Work is in command buffers, as Metal wants it, each of several calls. The last thing that one does is to
// raise the event of its stream to the batch's number, and the first is to wait until it has the number
// before: command buffers of a queue begin in order, and nothing says that they end so. One that fails raises
// nothing. The call that finds the failure raises the event instead: else the batches behind it would wait for ever.
type batch struct {
	buffer  id     // the command buffer, with a reference of ours
	blit    id     // the encoder that is open, with a reference of ours; 0 if none is
	number  uint64 // the first is 1
	calls   int
	causes  []*Event // of other streams, which the work waits for
	details string   // of the last call
}

const (
	mostCalls   = 64 // of a batch
	mostPending = 48 // batches of a stream: where 64 are not completed Metal blocks
)

// batch returns the one that takes work. The caller has mu.
func (s *Stream) batch() (*batch, error) {
	if s.open != nil {
		return s.open, nil
	}
	number := s.next()
	if number > mostPending {
		s.finish(number - mostPending)
	}
	b := &batch{number: number}
	s.hw.pooled(func() {
		if b.buffer = s.hw.keep(s.hw.ask(s.queue, selCommandBuffer)); b.buffer != 0 && number > 1 {
			s.hw.tell(b.buffer, selEncodeWait, uintptr(s.event), uintptr(number-1))
		}
	})
	if b.buffer == 0 {
		return nil, isNil(selCommandBuffer, "a stream of %s", s.dev.base.Name())
	}
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	s.open = b
	return b, nil
}

// next returns the number of the batch that comes after those that were committed.
func (s *Stream) next() uint64 {
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	return s.committed + 1
}

// encode puts work on n bytes of some places into the batch that is open. The caller has mu.
func (s *Stream) encode(detail string, n int, work func(blit id), on ...place) error {
	b, err := s.batch()
	if err != nil {
		return err
	}
	s.notes(b, n, on)
	s.hw.pooled(func() {
		if b.blit == 0 {
			b.blit = s.hw.keep(s.hw.ask(b.buffer, selBlit))
		}
		if b.blit != 0 {
			work(b.blit)
		}
	})
	if b.blit == 0 {
		return isNil(selBlit, "%s", detail)
	}
	b.details = detail
	if b.calls++; b.calls >= mostCalls {
		s.commit()
	}
	return nil
}

// closeEncoder ends the encoder, as events are encoded without one.
func (s *Stream) closeEncoder(b *batch) {
	if b.blit != 0 {
		s.hw.tell(b.blit, selEndEncoding)
		s.hw.release(b.blit)
		b.blit = 0
	}
}

// commit has the GPU begin what is open. The caller has mu.
func (s *Stream) commit() {
	b := s.open
	if b == nil {
		return
	}
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	s.open = nil
	s.hw.pooled(func() {
		s.closeEncoder(b)
		s.hw.tell(b.buffer, selEncodeSignal, uintptr(s.event), uintptr(b.number))
		s.hw.tell(b.buffer, selCommit)
	})
	s.committed = b.number
	s.pending = append(s.pending, b)
}

// finish waits until all batches up to a number are over, the oldest first: if one has failed, it
// has to be found before those behind it can go on.
func (s *Stream) finish(number uint64) {
	for {
		b := s.oldest(number)
		if b == nil {
			return
		}
		for _, e := range b.causes {
			e.stream.finish(e.number)
		}
		s.hw.pooled(func() { s.hw.tell(b.buffer, selWait) })
		s.hw.release(b.buffer)
	}
}

// oldest returns the first batch that is not over, with a reference of the caller's, and nil where
// that is behind a number.
func (s *Stream) oldest(number uint64) *batch {
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	s.reap()
	if len(s.pending) == 0 || s.pending[0].number > number {
		return nil
	}
	b := s.pending[0]
	s.hw.keep(b.buffer)
	return b
}

// over reports whether the batches up to a number are over, and if work of theirs has failed, why.
func (s *Stream) over(number uint64) (bool, error) {
	s.hw.book.Lock()
	defer s.hw.book.Unlock()
	s.reap()
	return s.reaped >= number, s.failure(number)
}

// failure returns why work up to a number was not done. The caller has book.
func (s *Stream) failure(number uint64) error {
	if s.err != nil && s.failed <= number {
		return s.err
	}
	return nil
}

// reap looks which work is over, in order. Streams may have waited for each other: what is looked at
// already is not looked at again from there. The caller has book.
func (s *Stream) reap() {
	if s.reaping || len(s.pending) == 0 {
		return
	}
	s.reaping = true
	defer func() { s.reaping = false }()
	s.hw.pooled(func() {
		for len(s.pending) > 0 && s.reapFirst() {
		}
	})
}

// reapFirst is reap of the oldest batch. It reports false where that goes on.
func (s *Stream) reapFirst() bool {
	b := s.pending[0]
	for _, e := range b.causes {
		e.stream.reap() // if it has failed, b waits for what we raise there
	}
	if !s.raised(b.number) {
		if s.hw.tell(b.buffer, selStatus) < statusCompleted {
			return false
		}
		s.fail(b.number, s.hw.noted(s.hw.outcome(b.buffer, b.details)))
		if !s.raised(b.number) { // it may have been between the two questions
			s.hw.tell(s.event, selSetSignaled, uintptr(b.number))
		}
	}
	for _, e := range b.causes {
		s.fail(b.number, e.stream.failure(e.number))
	}
	s.hw.release(b.buffer)
	s.pending = s.pending[1:]
	s.reaped = b.number
	return true
}

func (s *Stream) raised(number uint64) bool {
	return uint64(s.hw.tell(s.event, selSignaled)) >= number
}

// fail makes err the error of the stream, unless work before has failed. The caller has book.
func (s *Stream) fail(number uint64, err error) {
	if err != nil && (s.err == nil || number < s.failed) {
		s.err, s.failed = err, number
	}
}
