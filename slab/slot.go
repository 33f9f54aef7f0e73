package slab

import (
	"sync/atomic"
	"unsafe"
)

// A slot is what a handle points to: it says whose turn the memory is. It
// serves block after block; the generation in its word tells the owners apart,
// so that one compare-and-swap decides who releases (or less, see bias.go), and
// a handle of an earlier owner never matches again.
//
//	word = generation<<pinBits | pins
//
// Pins count the calls of With that run; a slot that is released meanwhile is
// recycled by the last of them. Slots hold no pointers and stand in racks of
// up to 511 beside their memory, each on a cache line of its own: with 16 bytes
// a slot, releases on two processors ran 13 times slower.
type slot struct {
	word     atomic.Uint64
	asked    askedBytes  // what the owner wanted, for when it forgets
	escaped  atomic.Bool // the owner has a raw view of memory that the collector does not see
	bias     uint32      // of the magazine that the owner had it from; see bias.go
	off, len int         // the block, within the region of its home; under the pool's mu
	class    uint16      // of the caches
	back     uint16      // bytes from here to the rack
	out      bool        // the strategy has handed the block out; under the pool's mu
	token    bool        // in a rack of its own; see forget.go
	plain    bool        // Release has nothing to do but to conceal and cache it
	used     bool        // streams have to do with it; see stream.go
}

const (
	pinBits = 16
	pinMask = 1<<pinBits - 1
	nextGen = 1 << pinBits
)

// A rack is an allocation of slots: it begins with the way from a slot to its
// home. Every Release reads that, so it must not share a cache line with a slot
// that another processor writes; on two processors that made a hit three times
// slower. A slot that is alone in its rack shares a line with it, so that a
// block which has a region of its own costs its Release one line and not two.
//
// The runtime puts a word in front of objects with pointers from 512 bytes to 32 KiB,
// so a rack and a slot use no more than a line less a word.
type rack struct {
	home *home
	pool *core
}

const lineBytes = 64

// A seat is a slot on a line of its own.
type seat struct {
	slot
	_ [lineBytes - unsafe.Sizeof(slot{})]byte
}

type (
	rack1 struct {
		rack
		slot slot
	}
	rack8 struct {
		rack
		_     [lineBytes - unsafe.Sizeof(rack{})]byte
		seats [8]seat
	}
	rack64 struct {
		rack
		_     [lineBytes - unsafe.Sizeof(rack{})]byte
		seats [64]seat
	}
	rack511 struct { // 32 KiB: an allocation of its own
		rack
		_     [lineBytes - unsafe.Sizeof(rack{})]byte
		seats [511]seat
	}
)

// rack returns the rack of a slot.
func (s *slot) rack() *rack {
	return (*rack)(unsafe.Add(unsafe.Pointer(s), -int(s.back)))
}

func (s *slot) home() *home { return s.rack().home }

// newSlot returns a slot in a rack of its own.
func newSlot(h *home) *slot {
	r := &rack1{rack: rack{home: h, pool: h.pool}}
	r.slot.back = uint16(unsafe.Offsetof(r.slot))
	return &r.slot
}

// manyRacks is when a home gets larger ones, a quarter of what it has at most:
// one range with 1 GiB of 4 KiB blocks takes the collector a fifth less time then.
const manyRacks = 32

// newRack returns the seats of a new rack for a home that has use for about n.
func newRack(h *home, n int) []seat {
	var seats []seat
	switch r := (rack{home: h, pool: h.pool}); {
	case n <= 8:
		seats = (&rack8{rack: r}).seats[:]
	case len(h.racks) < manyRacks:
		seats = (&rack64{rack: r}).seats[:]
	default:
		seats = (&rack511{rack: r}).seats[:]
	}
	for i := range seats {
		seats[i].back = uint16(lineBytes * (i + 1))
	}
	return seats
}

// release ends the generation gen. It reports whether this call did so, and
// whether the slot can be recycled now or the last pin will see to it.
func (s *slot) release(gen uint64) (won, idle bool) {
	if !s.share(gen) {
		return false, false
	}
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

// conceal is for who has released s: the next owner has shown the memory to nobody.
func (s *slot) conceal() {
	if s.escaped.Load() {
		s.escaped.Store(false)
	}
}

// pin keeps the slot from being recycled, if gen is still its generation.
func (s *slot) pin(gen uint64) bool {
	if !s.share(gen) {
		return false
	}
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
