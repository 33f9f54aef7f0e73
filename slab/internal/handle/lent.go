package handle

// To whom a slot is lent, and what the owner has shown of the memory.

// Lend hands the slot to a new owner, for size bytes of its block. It returns the
// owner's generation.
func (s *Slot) Lend(size int) (gen uint64) {
	gen = s.word.Load()
	s.setOwner(uint32(size), lentTo(gen))
	return gen
}

// lentTo is what Slot.lent is of generation gen. It comes again after 2^29 generations, but
// is compared with the slot's own or the one before only.
func lentTo(gen uint64) uint32 { return uint32(gen >> (lowBits - lentBits)) }

// What the owner has shown, in bits of Slot.lent below the generation.
const (
	escaped  = 1 << iota // a raw slice
	sliced               // nothing but a raw slice: the program has no handle
	hidden               // who has a slice alone is not the owner: see Hide
	lentBits = iota
)

// Escape notes that the owner has a raw slice. Only slots with a
// finalizer need to know: of other memory the collector sees every slice.
func (s *Slot) Escape() {
	if s.flags&watched != 0 {
		s.lent.Store(s.lent.Load() | escaped)
	}
}

// Slice is Escape for an owner that has the raw slice alone, no handle. The block is not
// forgotten when nothing reaches the slot: see takeDead. A slice of 0 bytes reaches it.
// It is noted without a finalizer, too: what a buffer grows to may have one. The owner's
// handle is another from now on: Slice returns its generation.
func (s *Slot) Slice() (gen uint64) {
	gen = s.generation()
	if s.len == 0 {
		return gen
	}
	if gen&wasSliced == 0 {
		gen |= wasSliced
		s.word.Or(wasSliced)
	}
	s.lent.Store(lentTo(gen) | escaped | sliced)
	return gen
}

// Hide has no one find the owner by its slice: the memory is another owner's to cut up. A
// slice may have escaped, which is noted, too.
func (s *Slot) Hide() { s.lent.Store(lentTo(s.generation()) | escaped | hidden) }

// MayHaveEscaped reports whether the owner, of generation gen, may have a raw slice.
func (s *Slot) MayHaveEscaped(gen uint64) bool {
	return s.flags&watched == 0 || s.lent.Load() != lentTo(gen)
}

// hasEscaped reports whether the last owner, who is gone, may have had a raw slice. That is
// so unless lent says that it showed nothing: an Escape of the owner before, which came
// late, may have written over what this one showed.
func (s *Slot) hasEscaped() bool { return s.lent.Load() != lentTo(s.generation()) }

// IsSliced reports whether the owner, of generation gen, has a raw slice alone.
func (s *Slot) IsSliced(gen uint64) bool { return s.lent.Load() == lentTo(gen)|escaped|sliced }

// isSliced is IsSliced of the last owner.
func (s *Slot) isSliced() bool { return s.IsSliced(s.generation()) }
