package handle

import "testing"

// A sampled slot is released once, by the way that finds it sampled, and its next owner is not.
func TestSampled(t *testing.T) {
	for name, end := range map[string]func(s *Slot, gen uint64) bool{
		"EndPinned": func(s *Slot, gen uint64) bool { won, idle := s.EndPinned(gen); return won && idle },
		"EndOwn":    func(s *Slot, gen uint64) bool { return s.Pin(gen) && s.EndOwn(gen) },
		"Unpin": func(s *Slot, gen uint64) bool {
			if !s.Pin(gen) {
				return false
			}
			won, idle := s.EndPinned(gen)
			return won && !idle && s.Unpin()
		},
		"EndPinned of a slice": func(s *Slot, _ uint64) bool { won, idle := s.EndPinned(s.BySlice()); return won && idle },
		"expire":               func(s *Slot, _ uint64) bool { return s.expire() },
		"expireAll":            func(s *Slot, _ uint64) bool { n, ok := s.expireAll(); return n == 1 && ok },
	} {
		s := newSlot()
		s.End(s.Lend(1))
		gen := s.Lend(1)
		s.SetSampled()
		if !s.Owns(gen) || s.End(gen) {
			t.Errorf("%s: a plain Release does not notice", name)
		}
		if !end(s, gen) || s.Owns(gen) || !s.TakeSampled() || s.TakeSampled() {
			t.Errorf("%s: word %x", name, s.word.Load())
		}
		if next := s.Lend(1); next <= gen || !s.End(next) {
			t.Errorf("%s: the next owner is sampled", name)
		}
	}
}
