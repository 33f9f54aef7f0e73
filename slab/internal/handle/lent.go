package handle

// The owner to whom a slot is lent, and whether the owner has a slice of the memory.

// Lend hands the slot to a new owner, for size bytes of its block. It returns the
// owner's generation.
func (s *Slot) Lend(size int) (gen uint64) {
	gen = s.word.Load()
	s.setOwner(uint32(size), lentTo(gen))
	return gen
}

// lentTo is the value of Slot.lent for generation gen. It comes again after 2^13 generations, but
// is compared only with the slot's own generation or the one before.
func lentTo(gen uint64) uint16 { return uint16(gen >> (lowBits - lentBits)) }

// Facts about the owner, in bits of Slot.lent below the generation.
const (
	bySlice  = 1 << iota // a raw slice, and no handle
	hidden               // a slice alone does not find the owner: see Hide
	lentBits = iota
)

// Escape notes that the owner has a raw slice. Only slots with a finalizer need to know: in
// other memory the collector sees every slice. An Escape that comes late, when the slot was
// lent again, notes a slice of the next owner. It must not change lent, by which Put finds the
// next owner.
func (s *Slot) Escape() { s.lent.escape() }

// BySlice is Escape for an owner that has only the raw slice, no handle. The block is not
// forgotten when nothing reaches the slot: see takeDead. BySlice is noted also without a
// finalizer, and for 0 bytes, as the buffer may grow to a block with one. From now on the owner
// has another handle: BySlice returns its generation.
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

// SameOwner reports whether two generations of a slot are of one owner: BySlice changes the
// generation of the handle.
func SameOwner(a, b uint64) bool { return (a^b)&^wasBySlice == 0 }

// Hide keeps calls from finding the owner by its slice: the owner cuts the memory up for others.
// A slice may have escaped, which Hide notes, too.
func (s *Slot) Hide() {
	s.lent.set(lentTo(s.Generation()) | hidden)
	s.Escape()
}

// MayHaveEscaped reports whether the last owner may have a raw slice.
func (s *Slot) MayHaveEscaped() bool { return s.lent.escaped() }

// IsBySlice reports whether the owner, of generation gen, has only a raw slice.
func (s *Slot) IsBySlice(gen uint64) bool { return s.lent.get() == lentTo(gen)|bySlice }

// isBySlice is IsBySlice of the last owner.
func (s *Slot) isBySlice() bool { return s.IsBySlice(s.Generation()) }

// isLent reports whether the slot has an owner.
func (s *Slot) isLent() bool { return s.lent.get()&^(bySlice|hidden) == lentTo(s.Generation()) }
