package handle

import (
	"runtime"
	"unsafe"
)

// A partial is the slot of a handle that shares the block of another slot, its root. It pins
// the root, so the block stays where it is until the last handle has gone. Address and length
// of the slot are those of the part. A partial serves one part of its table after another, as a
// slot serves blocks. Its header has the region of the root, so only a caller who has pinned the slot
// may read that.
//
// Off the heap, where the root has a finalizer, a partial has one, too. It runs before the root's
// finalizer, as a part reaches its root. It stays when the part ends: to set and remove it took
// longer than all else that a program does with a part. On the Go heap a part keeps the memory
// alive, so that the region is not found dead while a part may be in use. When the region is found
// dead, all its parts were forgotten.
type partial struct {
	header
	root *Slot          // of the block; nil once the part has ended
	mem  unsafe.Pointer // Entry.Mem of the root
	_    [headerBytes - 2*unsafe.Sizeof(uintptr(0))]byte
	slot Slot
}

// partBack is Slot.back of parts alone. It tells parts from other slots, and never changes.
const partBack = 2

// maxParts is the most parts of a block at a time. That is half of the pins: the other half is for
// calls of With.
const maxParts = 1 << 15

// IsPart reports whether s shares the block of another slot.
func (s *Slot) IsPart() bool { return s.back == partBack }

func (s *Slot) part() *partial { return (*partial)(unsafe.Pointer(s.header())) }

// Root returns the slot that has the block of s: s itself, or the root if s is a part. The caller
// has pinned s.
func (s *Slot) Root() *Slot {
	if s.IsPart() {
		return s.part().root
	}
	return s
}

// Part returns a part of s: n bytes at off. mem is the address of the bytes of s. The caller has
// pinned s. Part reports false if the block has too many parts.
func (s *Slot) Part(mem unsafe.Pointer, off, n int) (e Entry, ok bool) {
	root, base, most := s, mem, maxParts
	if s.IsPart() {
		root, base = s.part().root, s.part().mem
	} else {
		most++ // the caller's own pin
	}
	if !root.pinMore(most) {
		return Entry{}, false
	}
	r := root.header().region
	p := r.table.partial()
	p.region, p.root, p.mem = r, root, base
	p.slot.addr, p.slot.len = s.addr+uintptr(off), n
	if p.slot.flags&watched == 0 && r.needsFinalizer(root.len) {
		p.slot.flags = watched
		runtime.SetFinalizer(p, func(p *partial) { p.region.table.partDead(&p.slot) })
	}
	return p.slot.shifted(mem, off), true
}

// partial returns a partial that serves no part.
func (t *shared) partial() *partial {
	if p, ok := t.parts.Get().(*partial); ok {
		return p
	}
	p := &partial{header: header{owner: t.owner}}
	p.slot.init(partBack)
	return p
}

// shifted returns the entry of a part at off of mem. An empty part might be at the end of the
// memory, so its address is that of its slot, as for an empty block.
func (s *Slot) shifted(mem unsafe.Pointer, off int) Entry {
	switch {
	case s.len == 0:
		return Entry{s, unsafe.Pointer(s)}
	case mem == nil:
		return Entry{s, nil}
	}
	return Entry{s, unsafe.Add(mem, off)}
}

// pinMore is Pin for a caller that knows that the slot is pinned: the slot may have been released.
// It reports false if there are most pins already.
func (s *Slot) pinMore(most int) bool {
	for {
		w := s.word.Load()
		if w&pinMask >= uint64(most) {
			return false
		}
		if s.word.CompareAndSwap(w, w+1) {
			return true
		}
	}
}

// EndPart unpins the root of a part. The generation of the part has ended, and nothing pins it. From then on
// the slot may serve another part. last says that this was the last handle of the block: the caller has to
// recycle root.
func (s *Slot) EndPart() (root Entry, last bool) {
	p := s.part()
	root = Entry{p.root, p.mem}
	p.root, p.mem = nil, nil // a program that keeps the released handle keeps no root alive
	p.region.table.parts.Put(p)
	return root, root.Slot.Unpin()
}

// SetStray notes that a slice of the block may be in use that no handle guards: a part off the
// heap was forgotten. The block must not be handed out again, whichever handle is released last.
// The caller has pinned s.
func (s *Slot) SetStray() { s.word.Or(stray) }

// TakeStray reports whether SetStray was called, and undoes it. The caller has ended the
// last handle.
func (s *Slot) TakeStray() bool { return s.takeBit(stray) }

// expireAll is expire of a slot on the Go heap whose memory nothing reaches. All its pins are
// from parts that were forgotten, too, as a call that pins the slot would reach the memory.
// handles counts these parts, and the owner if it has not released the slot.
func (s *Slot) expireAll() (handles int, ok bool) {
	w := s.word.Load()
	handles = int(w & pinMask)
	next := w &^ (lowMask &^ sampled)
	if w&ended == 0 {
		handles++
		next += nextGen
	}
	return handles, s.word.CompareAndSwap(w, next)
}
