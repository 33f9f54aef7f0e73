//go:build !race

package handle

// An ownedNumber is a number that the owner of a slot writes. Others read it only after
// the collector has found that there is no owner any more. That is synchronisation
// enough, but the race detector cannot know it.
type ownedNumber struct{ n uint32 }

func (a *ownedNumber) Store(n uint32) { a.n = n }
func (a *ownedNumber) Load() uint32   { return a.n }

// A lending says to which owner a slot is lent, and whether a raw slice has escaped. The owner
// writes both; an earlier owner may still write slice.
type lending struct{ to, slice uint16 }

func (l *lending) set(to uint16) { l.to = to }
func (l *lending) get() uint16   { return l.to }
func (l *lending) escape()       { l.slice = 1 }
func (l *lending) escaped() bool { return l.slice != 0 }

// setOwner does the writes of Lend in one call, so that a hit has fewer instructions. No slice has
// escaped from the new owner.
func (s *Slot) setOwner(asked uint32, to uint16) { s.asked.n, s.lent = asked, lending{to: to} }

// A lockedNumber is a number that is written under a lock. Readers without the lock accept an old
// value. An atomic store would cost as much as the lock.
type lockedNumber struct{ n uintptr }

func (a *lockedNumber) Store(n uintptr) { a.n = n }
func (a *lockedNumber) Load() uintptr   { return a.n }
