//go:build race

package handle

import "sync/atomic"

type (
	ownedNumber  = atomic.Uint32
	lockedNumber = atomic.Uintptr
)

// A lending has both in one word, so that a slot is no longer than without the detector.
type lending struct{ word atomic.Uint32 }

const sliceEscaped = 1 << 16

func (l *lending) set(to uint16) { l.word.Store(l.word.Load()&sliceEscaped | uint32(to)) }
func (l *lending) get() uint16   { return uint16(l.word.Load()) }
func (l *lending) escape()       { l.word.Or(sliceEscaped) }
func (l *lending) escaped() bool { return l.word.Load()&sliceEscaped != 0 }

func (s *Slot) setOwner(asked uint32, to uint16) {
	s.asked.Store(asked)
	s.lent.word.Store(uint32(to))
}
