package handle

import (
	"runtime"
	"unsafe"
)

// A partial is the slot of a handle that shares the block of another, its root. It pins the
// root, so the block stays where it is until the last handle has gone. The bounds of its
// slot are those of the part. It serves one part of its table after another, as a slot serves blocks: its
// header has the region of the root, so only a caller who has pinned the slot may read that.
//
// Off the heap, where the root has a finalizer, a part has one, too. It runs before the
// root's, as a part reaches its root. It stays when the part ends: to set and remove it took more than
// all else that a program does with a part. On the Go heap a part keeps the memory alive, so
// that the region is not found dead while a part may be in use; then all are.
type partial struct {
	header
	root *Slot          // of the block; nil once the part has ended
	mem  unsafe.Pointer // Entry.Mem of the root
	_    [headerBytes - 2*unsafe.Sizeof(uintptr(0))]byte
	slot Slot
}

// partBack is Slot.back of parts alone: it tells them from others, and never changes.
const partBack = 2

// maxParts is how many parts a block may have at a time. That is half of the pins: so many
// calls of With have room beside them.
const maxParts = 1 << 15

// IsPart reports whether s shares the block of another slot.
func (s *Slot) IsPart() bool { return s.back == partBack }

func (s *Slot) part() *partial { return (*partial)(unsafe.Pointer(s.header())) }

// Root returns the slot that has the block of s: its own, or that of the buffer that s is
// a part of. The caller has pinned s.
func (s *Slot) Root() *Slot {
	if s.IsPart() {
		return s.part().root
	}
	return s
}

// Part returns a part of s: n bytes at off. mem is where the bytes of s are. The caller has
// pinned s. Part reports false where the block has too many parts.
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

// partial returns one that no part has.
func (t *shared) partial() *partial {
	if p, ok := t.parts.Get().(*partial); ok {
		return p
	}
	p := &partial{header: header{owner: t.owner}}
	p.slot.init(partBack)
	return p
}

// shifted returns the entry of a part at off of mem. An empty one, which might be at the end
// of the memory, is where its slot is, as an empty block.
func (s *Slot) shifted(mem unsafe.Pointer, off int) Entry {
	switch {
	case s.len == 0:
		return Entry{s, unsafe.Pointer(s)}
	case mem == nil:
		return Entry{s, nil}
	}
	return Entry{s, unsafe.Add(mem, off)}
}

// pinMore is Pin for a caller who knows that the slot is pinned, so that it may have been
// released. It reports false from that many pins on.
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

// EndPart unpins the root of a part, whose generation has ended and which nothing pins. The slot may serve another
// part from then on.
// last says that this was the last handle of the block: the caller has to recycle root.
func (s *Slot) EndPart() (root Entry, last bool) {
	p := s.part()
	root = Entry{p.root, p.mem}
	p.root, p.mem = nil, nil // a program that keeps the released handle keeps no root alive
	p.region.table.parts.Put(p)
	return root, root.Slot.Unpin()
}

// SetStray notes that a slice of the block is in use for all anyone knows, and no handle
// guards it: a part off the heap was forgotten. The block must not be handed out again,
// whoever releases it. The caller has pinned s.
func (s *Slot) SetStray() { s.word.Or(stray) }

// TakeStray reports whether SetStray was called, and undoes it. The caller has ended the
// last handle.
func (s *Slot) TakeStray() bool { return s.takeBit(stray) }

// expireAll is expire of a slot on the Go heap whose memory nothing reaches. What pins it
// are parts that were forgotten, too: a call that pins it has the memory at hand. handles
// counts them, and the owner if it has not released the slot.
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
