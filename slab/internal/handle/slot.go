package handle

import (
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Slot tracks which generation of handle owns a block. It serves one block
// after another. Each owner's handle carries the generation that it was given,
// so one compare-and-swap decides who releases, and a handle of an earlier owner
// never matches again.
//
//	word = generation<<pinBits | pins
//
// Pins count the calls of PooledBuffer.With that run. If the slot is released
// meanwhile, the last of them recycles it.
//
// A Slot has no pointers, so that the collector does not read a program's slots, and
// fits on one cache line with the header of its group. Within a larger group it has a
// line of its own: without that, releases on two processors took 13 times as long.
type Slot struct {
	word     atomic.Uint64
	off, len int         // the block within its region; off is -1 while there is none; guarded by Table.mu
	spare    ownedNumber // bytes of len that the owner did not ask for
	escaped  ownedNumber // of the generation that has a raw slice: see Escape
	extent   int32       // the strategy's number for the block, 0 if it has none
	class    uint16      // of the caches
	back     uint8       // distance to the group's header, in units of headerBytes
	flags    uint8       // see below; written while no other goroutine has the handle, or under the lock of package pending
}

const (
	watched  = 1 << iota // the slot has a finalizer
	simple               // Release only has to cache the block
	streamed             // streams have used the block
)

const (
	pinBits = 16
	pinMask = 1<<pinBits - 1
	nextGen = 1 << pinBits
)

// An Entry is a block that no handle owns, in a cache or a queue or on its way. Its
// pointer keeps memory of the Go heap alive; it is nil where the CPU cannot reach the
// memory.
type Entry struct {
	Slot *Slot
	Mem  unsafe.Pointer
}

// Lend hands the slot to a new owner, for size bytes of its block. It returns the
// owner's generation.
func (s *Slot) Lend(size int) (gen uint64) {
	s.spare.Store(uint32(s.len - size))
	return s.word.Load()
}

// Owns reports whether gen is the slot's generation.
func (s *Slot) Owns(gen uint64) bool { return s.word.Load()&^pinMask == gen }

// End ends generation gen, if it is the slot's and no call of With runs. Where
// it returns false, EndPinned tells why.
func (s *Slot) End(gen uint64) bool { return s.word.CompareAndSwap(gen, gen+nextGen) }

// EndPinned ends generation gen though calls of With may run. won says that this
// call did so; idle, that none runs and the caller has to recycle the slot.
func (s *Slot) EndPinned(gen uint64) (won, idle bool) {
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

// Pin keeps the slot from being recycled, if gen is still its generation.
func (s *Slot) Pin(gen uint64) bool {
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

// Unpin undoes Pin. It reports whether the slot was released meanwhile and the
// caller has to recycle it.
func (s *Slot) Unpin(gen uint64) bool {
	w := s.word.Add(^uint64(0))
	return w&pinMask == 0 && w != gen
}

// EndOwn ends generation gen for the one who has pinned the slot, if no one else has, and
// undoes that Pin.
func (s *Slot) EndOwn(gen uint64) bool { return s.word.CompareAndSwap(gen+1, gen+nextGen) }

// expire ends the generation of an owner that the collector has found gone.
func (s *Slot) expire() bool {
	w := s.word.Load()
	return w&pinMask == 0 && s.word.CompareAndSwap(w, w+nextGen)
}

// Escape notes that the owner, of generation gen, has a raw slice. Only slots with a
// finalizer need to know: of other memory the collector sees every slice.
func (s *Slot) Escape(gen uint64) {
	if s.flags&watched != 0 {
		s.escaped.Store(escapedNumber(gen))
	}
}

// escapedNumber is never 0. It comes again after 2^31 generations: what has not escaped
// may then count as if it had, never the other way round.
func escapedNumber(gen uint64) uint32 { return uint32(gen>>pinBits) | 1<<31 }

// MayHaveEscaped reports whether the owner, of generation gen, may have a raw slice.
func (s *Slot) MayHaveEscaped(gen uint64) bool {
	return s.flags&watched == 0 || s.escaped.Load() == escapedNumber(gen)
}

// hasEscaped reports whether the last owner, who is gone, had a raw slice.
func (s *Slot) hasEscaped() bool { return s.escaped.Load() == escapedNumber(s.word.Load()) }

// Simple reports whether Release only has to cache the block.
func (s *Slot) Simple() bool { return s.flags&simple != 0 }

// Streamed reports whether streams have used the block since it was lent.
func (s *Slot) Streamed() bool { return s.flags&streamed != 0 }

// SetStreamed notes that streams use the block: Release has to wait for them
// from now on, and takes the long way until the slot has a new block.
func (s *Slot) SetStreamed() { s.flags = s.flags&^simple | streamed }

// ClearStreamed undoes the part of SetStreamed that concerns one owner.
func (s *Slot) ClearStreamed() { s.flags &^= streamed }

// Class returns the block's size class in the caches.
func (s *Slot) Class() int { return int(s.class) }

// Len returns the length of the block in bytes.
func (s *Slot) Len() int { return s.len }

// Asked returns the bytes that the owner asked for. Only the owner may call it, or
// the finalizer that has found it gone.
func (s *Slot) Asked() int { return s.len - int(s.spare.Load()) }

// Extent returns the number that the strategy knows the block by, for its owner.
func (s *Slot) Extent() int32 { return s.extent }

// Block returns the first n bytes of the slot's block, for its owner.
func (s *Slot) Block(n int) device.Block {
	return device.Block{Region: s.header().region.region, Off: s.off, Len: n}
}

// Collected reports whether the garbage collector owns the block's memory.
func (s *Slot) Collected() bool { return s.header().region.collected != nil }

// Owner returns what the Table was opened with: the pool of the slot.
func (s *Slot) Owner() unsafe.Pointer { return s.header().owner }

// An ID names a slot without keeping it alive, so that its finalizer can run.
type ID uintptr

// ID returns the name of the slot.
func (s *Slot) ID() ID { return ID(unsafe.Pointer(s)) }
