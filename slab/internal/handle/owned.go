//go:build !race

package handle

// An ownedNumber is one that the owner of a slot writes. It is read only after the
// collector has found that there is no owner any more. That is all the
// synchronisation it takes, but the race detector cannot know.
type ownedNumber struct{ n uint32 }

func (a *ownedNumber) Store(n uint32) { a.n = n }
func (a *ownedNumber) Load() uint32   { return a.n }

// A lending is to whom a slot is lent, which the owner writes, and whether a raw slice has
// escaped, which an owner before may write, too.
type lending struct{ to, slice uint16 }

func (l *lending) set(to uint16) { l.to = to }
func (l *lending) get() uint16   { return l.to }
func (l *lending) escape()       { l.slice = 1 }
func (l *lending) escaped() bool { return l.slice != 0 }

// setOwner is what Lend writes, in one call, of which a hit has fewer instructions. Nothing has
// escaped from the new owner.
func (s *Slot) setOwner(asked uint32, to uint16) { s.asked.n, s.lent = asked, lending{to: to} }

// A lockedNumber is one that is written under a lock, and read without it by who takes an
// old value as well. An atomic store would cost as much as the lock.
type lockedNumber struct{ n uintptr }

func (a *lockedNumber) Store(n uintptr) { a.n = n }
func (a *lockedNumber) Load() uintptr   { return a.n }
