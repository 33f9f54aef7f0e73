package handle

import (
	"sync/atomic"
	"unsafe"
)

// A Slot tracks which generation of handle owns a block. It serves one block
// after another. Each owner's handle carries the owner's generation, so one
// compare-and-swap decides which call releases, and a handle of an earlier owner
// never matches again.
//
//	word = generation<<20 | wasBySlice | sampled | stray | ended | pins
//
// Handles carry the first two. wasBySlice says that an owner, of this or an earlier
// generation, had only a slice: see Table.doubts. Pins count the calls of PooledBuffer.With
// that run, and the active parts (part.go). If the slot is released meanwhile, which sets
// ended, the last pin recycles the slot.
//
// A Slot has no pointers, so that the collector does not read a program's slots, and
// fits on one cache line with the header of its group. Within a larger group it has a
// line of its own: without that, releases on two processors took 13 times as long.
type Slot struct {
	word atomic.Uint64
	// of the block: see Region.addr; noBlock while there is none; guarded by Table.mu
	addr uintptr
	// of the block; of a vacant slot see indexed; guarded by Table.mu
	len int
	// the low 32 bits of the bytes that the owner asked for: see Asked
	asked ownedNumber
	// the generation that the slot was lent to, and facts about its owner: see lentTo
	lent   lending
	_      [(8 - unsafe.Sizeof(uintptr(0))) / 2]uint32 // a single fills a line, also with words of 32 bits
	extent int32                                       // the strategy's number for the block, 0 if it has none
	class  uint16                                      // of the caches
	back   uint8                                       // distance to the group's header, in units of headerBytes
	// see below; written while no other goroutine has the handle, or under the lock of package pending
	flags uint8
	mark  uint64 // of the owner in a recording; see Mark
}

// noBlock is the address of no block.
const noBlock = ^uintptr(0)

const (
	watched  = 1 << iota // the slot has a finalizer
	simple               // Release only has to cache the block
	streamed             // streams have used the block
)

const (
	pinMask    = 1<<16 - 1
	ended      = 1 << 16 // the owner has released the slot, and pins are left
	stray      = 1 << 17 // see SetStray
	sampled    = 1 << 18 // see SetSampled
	lowBits    = 19
	lowMask    = 1<<lowBits - 1
	wasBySlice = 1 << lowBits
	nextGen    = 2 * wasBySlice
)

// An Entry is a block that no handle owns, in a cache or a queue or on its way. Its
// pointer keeps memory of the Go heap alive; the pointer is nil where the CPU cannot reach
// the memory.
type Entry struct {
	Slot *Slot
	Mem  unsafe.Pointer
}

// Generation returns the generation of the owner; without an owner, that of the next owner.
func (s *Slot) Generation() uint64 { return s.word.Load() &^ lowMask }

// Owns reports whether gen is the slot's generation.
func (s *Slot) Owns(gen uint64) bool { return s.Generation() == gen }

// End ends generation gen, if it is the slot's, and the slot is not pinned, stray or sampled. If
// End returns false, EndPinned tells why.
func (s *Slot) End(gen uint64) bool { return s.word.CompareAndSwap(gen, gen+nextGen) }

// EndPinned ends generation gen even if the slot is pinned. won says that this call
// ended it; idle, that nothing pins the slot and the caller has to recycle it.
func (s *Slot) EndPinned(gen uint64) (won, idle bool) {
	for {
		w := s.word.Load()
		if w&^lowMask != gen {
			return false, false
		}
		idle = w&pinMask == 0
		next := w + nextGen
		if !idle {
			next |= ended
		}
		if s.word.CompareAndSwap(w, next) {
			return true, idle
		}
	}
}

// Pin keeps the slot from being recycled, if gen is still its generation.
func (s *Slot) Pin(gen uint64) bool {
	for {
		w := s.word.Load()
		if w&^lowMask != gen {
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

// IsShared reports whether a part or another call pins the slot, too. The caller has pinned it.
func (s *Slot) IsShared() bool { return s.word.Load()&pinMask > 1 }

// Unpin undoes Pin. It reports whether the slot was released meanwhile and the
// caller has to recycle it.
func (s *Slot) Unpin() bool {
	w := s.word.Add(^uint64(0))
	if w&pinMask != 0 || w&ended == 0 {
		return false
	}
	s.word.Store(w &^ ended) // no other goroutine changes it: the generation is over
	return true
}

// EndOwn ends generation gen for the only caller that has pinned the slot, and undoes that Pin. It
// fails if there are other pins.
func (s *Slot) EndOwn(gen uint64) bool {
	return s.word.CompareAndSwap(gen+1, gen+nextGen) || s.word.CompareAndSwap(gen+1|sampled, gen+nextGen|sampled)
}

// takeBit clears a bit of the word, and reports whether it was set. The caller has ended the
// last handle: no other goroutine changes the word.
func (s *Slot) takeBit(bit uint64) bool {
	w := s.word.Load()
	if w&bit == 0 {
		return false
	}
	s.word.Store(w &^ bit)
	return true
}

// expire ends the generation of an owner that the collector has found gone.
func (s *Slot) expire() bool {
	w := s.word.Load()
	return w&pinMask == 0 && s.word.CompareAndSwap(w, w+nextGen)
}

// Simple reports whether Release only has to cache the block.
func (s *Slot) Simple() bool { return s.flags&simple != 0 }

// Streamed reports whether streams have used the block since it was lent.
func (s *Slot) Streamed() bool { return s.flags&streamed != 0 }

// SetStreamed notes that streams use the block: from now on Release has to wait for
// them, and takes the slow path until the slot has a new block.
func (s *Slot) SetStreamed() { s.flags = s.flags&^simple | streamed }

// ClearStreamed undoes the part of SetStreamed that concerns one owner.
func (s *Slot) ClearStreamed() { s.flags &^= streamed }

// Class returns the block's size class in the caches.
func (s *Slot) Class() int { return int(s.class) }

// Len returns the length of the block in bytes.
func (s *Slot) Len() int { return s.len }

// Asked returns the bytes that the owner asked for. A block has less than 4 GiB beyond them, so
// their low 32 bits are enough. Only the owner may call Asked, or the finalizer that has found the
// owner gone.
func (s *Slot) Asked() int { return s.len - int(uint32(s.len)-s.asked.Load()) }

// Extent returns the number of the block in the strategy, for its owner.
func (s *Slot) Extent() int32 { return s.extent }

// SetMark keeps the owner's mark in a recording, 0 if there is none; Mark returns it. Only the
// goroutine that lent the slot may set the mark, and only the goroutine that ended the generation
// may read it.
func (s *Slot) SetMark(m uint64) { s.mark = m }

// Mark returns the mark of the last SetMark.
func (s *Slot) Mark() uint64 { return s.mark }

// An ID names a slot without keeping it alive, so that its finalizer can run.
type ID uintptr

// ID returns the name of the slot.
func (s *Slot) ID() ID { return ID(unsafe.Pointer(s)) }
