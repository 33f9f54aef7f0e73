//go:build race

package handle

import "sync/atomic"

type (
	ownedNumber  = atomic.Uint32
	lockedNumber = atomic.Uintptr
)

func (s *Slot) setOwner(asked, lent uint32) {
	s.asked.Store(asked)
	s.lent.Store(lent)
}
