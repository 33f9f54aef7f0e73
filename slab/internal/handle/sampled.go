package handle

// A slot whose owner is in a profile is sampled, a bit in its word. So a plain End fails, and the
// other ways to end the generation find the bit. A Release that is not sampled has nothing to look
// for.

// SetSampled notes that the owner is in a profile. Only the goroutine that lent the slot may call it.
func (s *Slot) SetSampled() { s.word.Or(sampled) }

// TakeSampled reports whether SetSampled was called, and undoes it. The caller has ended the
// last handle.
func (s *Slot) TakeSampled() bool { return s.takeBit(sampled) }
