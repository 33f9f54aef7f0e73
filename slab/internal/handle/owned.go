//go:build !race

package handle

// An ownedNumber is one that the owner of a slot writes. It is read only after the
// collector has found that there is no owner any more. That is all the
// synchronisation it takes, but the race detector cannot know.
type ownedNumber struct{ n uint32 }

func (a *ownedNumber) Store(n uint32) { a.n = n }
func (a *ownedNumber) Load() uint32   { return a.n }

// setOwner is both Stores of Lend in one call, of which a hit has fewer instructions.
func (s *Slot) setOwner(asked, lent uint32) { s.asked.n, s.lent.n = asked, lent }

// A lockedNumber is one that is written under a lock, and read without it by who takes an
// old value as well. An atomic store would cost as much as the lock.
type lockedNumber struct{ n uintptr }

func (a *lockedNumber) Store(n uintptr) { a.n = n }
func (a *lockedNumber) Load() uintptr   { return a.n }
