package handle

// To whom a slot is lent, and what the owner has shown of the memory.

// Lend hands the slot to a new owner, for size bytes of its block. It returns the
// owner's generation.
func (s *Slot) Lend(size int) (gen uint64) {
	gen = s.word.Load()
	s.setOwner(uint32(size), lentTo(gen))
	return gen
}

// lentTo is what Slot.lent is of generation gen. It comes again after 2^13 generations, but
// is compared with the slot's own or the one before only.
func lentTo(gen uint64) uint16 { return uint16(gen >> (lowBits - lentBits)) }

// What the owner has, in bits of Slot.lent below the generation.
const (
	bySlice  = 1 << iota // a raw slice, and no handle
	hidden               // who has a slice alone is not the owner: see Hide
	lentBits = iota
)

// Escape notes that the owner has a raw slice. Only slots with a finalizer need to know: of
// other memory the collector sees every slice. An Escape that comes late, when the slot was
// lent again, says the same of the next owner. It must not change lent, by which Put finds
// that one.
func (s *Slot) Escape() { s.lent.escape() }

// BySlice is Escape for an owner that has the raw slice alone, no handle. The block is not
// forgotten when nothing reaches the slot: see takeDead.
// It is noted without a finalizer, and of 0 bytes, too: what a buffer grows to may have one. The owner's
// handle is another from now on: BySlice returns its generation.
func (s *Slot) BySlice() (gen uint64) {
	gen = s.Generation()
	if gen&wasBySlice == 0 {
		gen |= wasBySlice
		s.word.Or(wasBySlice)
	}
	s.lent.set(lentTo(gen) | bySlice)
	s.Escape()
	return gen
}

// SameOwner reports whether two generations of a slot are of one owner: BySlice changes that of
// the handle.
func SameOwner(a, b uint64) bool { return (a^b)&^wasBySlice == 0 }

// Hide has no one find the owner by its slice: the memory is another owner's to cut up. A
// slice may have escaped, which is noted, too.
func (s *Slot) Hide() {
	s.lent.set(lentTo(s.Generation()) | hidden)
	s.Escape()
}

// MayHaveEscaped reports whether the last owner may have a raw slice.
func (s *Slot) MayHaveEscaped() bool { return s.lent.escaped() }

// IsBySlice reports whether the owner, of generation gen, has a raw slice alone.
func (s *Slot) IsBySlice(gen uint64) bool { return s.lent.get() == lentTo(gen)|bySlice }

// isBySlice is IsBySlice of the last owner.
func (s *Slot) isBySlice() bool { return s.IsBySlice(s.Generation()) }
