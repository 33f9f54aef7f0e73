package slab

import (
	"sync/atomic"
	"unsafe"
)

// A slot is what a handle points to: it says whose turn the memory is. It
// serves block after block; the generation in its word tells the owners apart,
// so that one compare-and-swap decides who releases, and a handle of an
// earlier owner never matches again.
//
//	word = generation<<pinBits | pins
//
// Pins count the calls of With that run; a slot that is released meanwhile is
// recycled by the last of them. Slots hold no pointers and stand in racks of
// up to 64 beside their memory, each on a cache line of its own: with 16 bytes
// a slot, releases on two processors ran 13 times slower.
type slot struct {
	slotState
	_ [slotBytes - unsafe.Sizeof(slotState{})]byte
}

const slotBytes = 64

type slotState struct {
	word     atomic.Uint64
	asked    askedBytes  // what the owner wanted, for when it forgets
	escaped  atomic.Bool // the owner has a raw view of memory that the collector does not see
	off, len int         // the block, within the region of its home; under the pool's mu
	class    uint16      // of the caches
	index    uint8       // in its rack
	out      bool        // the strategy has handed the block out; under the pool's mu
	token    bool        // in a rack of its own; see forget.go
	plain    bool        // Release has nothing to do but to cache it
}

const (
	pinBits = 16
	pinMask = 1<<pinBits - 1
	nextGen = 1 << pinBits
)

// A rack is an allocation of slots, and the way from a slot to its home.
type rack struct {
	home *home
	pool *core
	_    [slotBytes - 2*unsafe.Sizeof(uintptr(0))]byte
}

type (
	rack1 struct {
		rack
		slots [1]slot
	}
	rack8 struct {
		rack
		slots [8]slot
	}
	rack64 struct {
		rack
		slots [64]slot
	}
)

// rack returns the rack of a slot, which begins a fixed way before it.
func (s *slot) rack() *rack {
	return (*rack)(unsafe.Add(unsafe.Pointer(s), -int(unsafe.Sizeof(rack{}))-int(s.index)*slotBytes))
}

func (s *slot) home() *home { return s.rack().home }

// newRack returns the slots of a new rack for a home that has use for about n.
func newRack(h *home, n int) []slot {
	var slots []slot
	switch {
	case n > 8:
		r := &rack64{rack: rack{home: h, pool: h.pool}}
		slots = r.slots[:]
	case n > 1:
		r := &rack8{rack: rack{home: h, pool: h.pool}}
		slots = r.slots[:]
	default:
		r := &rack1{rack: rack{home: h, pool: h.pool}}
		slots = r.slots[:]
	}
	for i := range slots {
		slots[i].index = uint8(i)
	}
	return slots
}

// release ends the generation gen. It reports whether this call did so, and
// whether the slot can be recycled now or the last pin will see to it.
func (s *slot) release(gen uint64) (won, idle bool) {
	if s.word.CompareAndSwap(gen, gen+nextGen) {
		return true, true
	}
	for {
		w := s.word.Load()
		if w&^pinMask != gen {
			return false, false
		}
		if s.word.CompareAndSwap(w, w+nextGen) {
			return true, w&pinMask == 0
		}
	}
}

// pin keeps the slot from being recycled, if gen is still its generation.
func (s *slot) pin(gen uint64) bool {
	for {
		w := s.word.Load()
		if w&^pinMask != gen {
			return false
		}
		if w&pinMask == pinMask {
			panic("slab: 65535 calls of With on one PooledBuffer at a time")
		}
		if s.word.CompareAndSwap(w, w+1) {
			return true
		}
	}
}

// unpin undoes pin and reports whether the slot was released meanwhile and has
// to be recycled by the caller.
func (s *slot) unpin(gen uint64) bool {
	w := s.word.Add(^uint64(0))
	return w&pinMask == 0 && w != gen
}
