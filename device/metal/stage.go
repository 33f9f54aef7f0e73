package metal

import "unsafe"

// stageBytes is how much goes by way of a stage at a time.
const stageBytes = 1 << 20

const half = stageBytes + 2*word // with the words that its edges are in

// staged calls f with a stage that nobody else uses.
func (h *hardware) staged(f func(*stage) error) error {
	s, err := h.stage()
	if err != nil {
		return err
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.stages = append(h.stages, s)
	}()
	return f(s)
}

func (h *hardware) stage() (*stage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := len(h.stages) - 1; last >= 0 {
		s := h.stages[last]
		h.stages = h.stages[:last]
		return s, nil
	}
	queue, err := h.newQueue()
	if err != nil {
		return nil, err
	}
	obj := h.ask(h.gpu, selNewBuffer, 2*half, storageShared)
	if obj == 0 {
		h.release(queue)
		return nil, isNil(selNewBuffer, "%d bytes for copies on %s", 2*half, h.Name)
	}
	m := unsafe.Slice((*byte)(pointer(h.tell(obj, selContents))), 2*half)
	return &stage{hw: h, queue: queue, obj: obj, read: m[:half], change: m[half:]}, nil
}

// move makes a copy in pieces, from the end that is overwritten last.
func (s *stage) move(t *transfer) error {
	for done := 0; done < t.n; done += stageBytes {
		n := min(stageBytes, t.n-done)
		at := done
		if t.to.off > t.from.off {
			at = t.n - done - n
		}
		m, err := s.get(t.from.part(at, n), n)
		if err == nil {
			err = s.put(t.to.part(at, n), m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// get returns n bytes at p, valid until the next get.
func (s *stage) get(p place, n int) ([]byte, error) {
	if p.host != nil {
		return p.host, nil
	}
	lo, hi := words(p.off, n)
	err := s.hw.once(s.queue, "a copy to the host", func(blit id) {
		s.hw.copy(blit, s.obj, 0, p.buf.obj, lo, hi-lo)
	})
	return s.read[p.off-lo:][:n], err
}

// put writes m to p. A word that is not written as a whole is read first. A call that writes another part of
// that word comes here too, and edges keeps the two apart.
func (s *stage) put(p place, m []byte) error {
	if p.host != nil {
		copy(p.host, m)
		return nil
	}
	lo, hi := words(p.off, len(m))
	if hi-lo > len(m) {
		s.hw.edges.Lock()
		defer s.hw.edges.Unlock()
		if err := s.hw.once(s.queue, "the edges of a copy", func(blit id) {
			s.hw.copy(blit, s.obj, half, p.buf.obj, lo, word)
			if hi-lo > word {
				s.hw.copy(blit, s.obj, half+hi-lo-word, p.buf.obj, hi-word, word)
			}
		}); err != nil {
			return err
		}
	}
	copy(s.change[p.off-lo:], m)
	return s.hw.once(s.queue, "a copy from the host", func(blit id) {
		s.hw.copy(blit, p.buf.obj, lo, s.obj, half, hi-lo)
	})
}
