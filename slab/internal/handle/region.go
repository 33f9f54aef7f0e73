package handle

import (
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Region has the slots of the blocks that a strategy has handed out in one device
// region. Table.mu guards all fields that change.
//
// On the Go heap the region holds its memory weakly while blocks are active, so that
// only their handles and slices keep the memory alive; see finalize.go.
type Region struct {
	table     *shared
	region    device.Region    // nil for buffers of 0 bytes
	collected device.Collected // nil off the Go heap
	base      unsafe.Pointer   // of host memory off the Go heap
	addr      uintptr          // of the beginning of host memory; 0 for other memory

	attached int     // slots with a block
	singles  []*Slot // of a region with a few blocks
	groups   []*group
	vacant   []*Slot // slots without a block
	watched  []*Slot // the same, with a finalizer

	deferred []Allocation // blocks handed out while the collector was reporting the region dead
}

// header returns the header of groups of slots of r.
func (r *Region) header() header { return header{region: r, owner: r.table.owner} }

// Block returns the first n bytes of the slot's block, for its owner.
func (s *Slot) Block(n int) device.Block {
	return s.header().region.block(s, n)
}

// Collected reports whether the garbage collector owns the block's memory.
func (s *Slot) Collected() bool { return s.header().region.collected != nil }

// entry returns the block of s, in memory of its region that begins at base. A block of 0
// bytes has the address of its slot, which no other block has.
func (r *Region) entry(s *Slot, base unsafe.Pointer) Entry {
	switch {
	case s.len == 0:
		return Entry{s, unsafe.Pointer(s)}
	case base == nil:
		return Entry{s, nil}
	}
	return Entry{s, unsafe.Add(base, s.addr-r.addr)}
}

// collectedBase returns the beginning of the memory of a region of the Go heap, or nil while the
// collector is about to report the region dead.
func (r *Region) collectedBase() unsafe.Pointer {
	base := unsafe.Pointer(unsafe.SliceData(r.collected.Bytes()))
	if r.addr == 0 { // the memory stays where it is; owners of its blocks read this without the lock
		r.addr = uintptr(base)
	}
	return base
}

// putOff keeps a block until the collector has reported the region dead.
func (r *Region) putOff(b device.Block, extent int32) {
	r.deferred = append(r.deferred, Allocation{b, extent})
	r.table.deferred.Add(b.Len)
}

// block returns the first n bytes of the block of s.
func (r *Region) block(s *Slot, n int) device.Block {
	if s.len == 0 {
		return device.Block{Region: r.region}
	}
	return device.Block{Region: r.region, Off: int(s.addr - r.addr), Len: n}
}

// attach gives the n bytes at off a slot of the class. The caller holds Table.mu.
func (r *Region) attach(off, n int, extent int32, class int, isSimple bool) *Slot {
	r.attached++
	s := r.slot(n)
	at := s.indexed()
	s.addr, s.len, s.extent, s.class = r.addr+uintptr(off), n, extent, uint16(class)
	s.flags &= watched
	if isSimple {
		s.flags |= simple
	}
	if s.len == 0 {
		s.addr = uintptr(unsafe.Pointer(s))
	}
	if at != s.addr && (r.addr != 0 || s.len == 0) {
		if at != 0 {
			r.table.index.remove(s, at)
		}
		r.table.index.add(s)
	}
	if r.collected != nil {
		r.collected.Loosen()
	}
	return s
}

// fewBlocks is the number of blocks of a region that have single slots. Further blocks share a group.
const fewBlocks = 16

// slot returns a slot for a block of n bytes.
func (r *Region) slot(n int) *Slot {
	list, needs := &r.vacant, r.needsFinalizer(n)
	if needs {
		list = &r.watched
		r.table.watchedBytes.Store(r.table.watchedBytes.Load() + uintptr(n))
	}
	if k := len(*list); k > 0 {
		s := (*list)[k-1]
		(*list)[k-1] = nil // or the collector would never find a watched slot dead
		*list = (*list)[:k-1]
		return s
	}
	if needs {
		return newWatched(r)
	}
	return r.newSlot(n)
}

// newSlot returns a new slot for a block of n bytes, as none is vacant.
func (r *Region) newSlot(n int) *Slot {
	if r.region.Size()/n <= fewBlocks {
		s := newSingle(r)
		r.singles = append(r.singles, s)
		return s
	}
	g := newGroup(r)
	r.groups = append(r.groups, g)
	for i := groupSlots - 1; i > 0; i-- {
		r.vacant = append(r.vacant, &g.slots[i].Slot)
	}
	return &g.slots[0].Slot
}

// needsFinalizer reports whether a block of n bytes needs a slot that tells when
// it is forgotten. On the Go heap the memory itself tells.
func (r *Region) needsFinalizer(n int) bool {
	from := r.table.options.WatchFrom
	if r.base == nil {
		from = r.table.options.WatchUnreachableFrom
	}
	return r.collected == nil && (n >= from || n == 0)
}

// detach takes the block from s. The caller holds Table.mu.
func (r *Region) detach(s *Slot) (device.Block, int32) {
	b := r.block(s, s.len)
	at := uintptr(0)
	if r.addr != 0 || s.len == 0 { // else the index does not have it
		at = s.addr
	}
	s.addr, s.len = noBlock, 0
	if len(r.table.refs.of) > 0 {
		r.table.refs.drop(uintptr(s.ID()))
	}
	if s.flags&watched != 0 {
		s.len = int(at)               // see indexed
		if len(r.table.doubted) > 0 { // hardly ever
			delete(r.table.doubted, s.ID())
		}
		r.table.watchedBytes.Store(r.table.watchedBytes.Load() - uintptr(b.Len))
		if r.watched = append(r.watched, s); r.table.stopped {
			r.unwatchVacant()
		}
	} else {
		if at != 0 {
			r.table.index.remove(s, at)
		}
		r.vacant = append(r.vacant, s)
	}
	if r.attached--; r.attached == 0 && r.collected != nil {
		r.collected.Hold()
	}
	return b, s.extent
}

// unwatchVacant drops the vacant slots with a finalizer.
func (r *Region) unwatchVacant() {
	for _, s := range r.watched {
		r.table.index.leave(s)
		s.flags &^= watched
		s.unwatch()
	}
	r.watched = nil
}

// each calls f with every slot that has a block and no finalizer.
func (r *Region) each(f func(*Slot)) {
	for _, s := range r.singles {
		if s.addr != noBlock {
			f(s)
		}
	}
	for _, g := range r.groups {
		for i := range g.slots {
			if s := &g.slots[i].Slot; s.addr != noBlock {
				f(s)
			}
		}
	}
}
