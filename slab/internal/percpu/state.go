package percpu

import "github.com/bufslab/bufslab/slab/internal/profile"

// A state is the word of a class cache that a hit changes. It counts Gets up to a bit that Enter
// tests together with the number of blocks: so the count costs a hit nothing. From its lowest bit:
//
//	 8 bits  blocks in the loaded magazine
//	23 bits  Gets, from a number that was drawn
//	 1 bit   due
//	24 bits  the first value of the Gets; 0 before the class cache was armed
//	 8 bits  the scale of the drawn number
type state uint64

const (
	loadedBits = 8
	loadedMask = 1<<loadedBits - 1
	oneGet     = 1 << loadedBits
	due        = -1 << 31 // of the lower half, as a signed number
	dueGets    = 1 << 23  // the Gets that set due
	fromAt     = 32
	fromMask   = 2*dueGets - 1
	scaleAt    = 56
)

// wasDue reports whether the class cache was due before the last Get. The last Get itself may have
// made it due, for the next Get.
func (s state) wasDue() bool { return uint32(s) >= (dueGets+1)*oneGet }

// n returns the blocks in the loaded magazine.
func (s state) n() int32 { return int32(s & loadedMask) }

func (s state) isArmed() bool { return s>>fromAt != 0 }

// armed is s changed so that n more Gets make the class cache due; n was drawn with scale.
func (s state) armed(n int64, scale profile.Scale) state {
	from := state(dueGets - n)
	return state(scale)<<scaleAt | from<<fromAt | from<<loadedBits | s&loadedMask
}

func (s state) scale() profile.Scale { return profile.Scale(s >> scaleAt) }

// gets counts the Gets since the class cache was armed.
func (s state) gets() int64 {
	return int64(uint32(s)>>loadedBits) - int64(s>>fromAt&fromMask)
}
