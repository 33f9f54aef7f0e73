package handle

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// An index finds the slot of the block that begins at an address. It is a hash table with
// linear probing. Table.mu guards changes; find takes no lock where the runtime pins.
//
// The index must not keep slots alive, or no forgotten block off the heap would be found;
// and the collector should not have to read it. So its cells are numbers, not pointers. A
// slot in the index has not been freed: its region holds it, also while it is vacant, or it has
// a finalizer that takes it out of the index first. A slot that a pinned goroutine has read
// from a cell stays until the goroutine unpins, as the collector frees nothing without stopping
// all processors in between. Stores to cells are not atomic, which would cost as much as the
// lock: a goroutine with a slice has it from a Get that was over before, and sees all stores of
// that Get. Under the race detector find is called with the lock.
type index struct {
	cells atomic.Pointer[cells] // not nil in a Table that is open
	used  int                   // cells that are not free: slots, and removed slots
	slots int
}

// cells are a power of two, and at most three quarters of them are used.
type cells struct {
	shift uint // of a hash, to the number of a cell
	of    []uintptr
}

const leastCells = 64

// noSlot is in a cell whose slot was removed: find goes on behind it. A free cell is 0.
var (
	noSlot  = &Slot{addr: noBlock}
	removed = cellOf(noSlot)
)

func newCells(n int) *cells {
	return &cells{shift: uint(64 - bits.Len(uint(n-1))), of: make([]uintptr, n)}
}

// first returns the first cell to look in for the slot of an address.
func (c *cells) first(addr uintptr) uint {
	const golden = 0x9e3779b97f4a7c15 // Knuth, The Art of Computer Programming, 6.4
	return uint(uint64(addr>>4) * golden >> c.shift)
}

// next returns the cell behind i.
func (c *cells) next(i uint) uint { return (i + 1) & uint(len(c.of)-1) }

func slotOf(cell uintptr) *Slot { return *(**Slot)(unsafe.Pointer(&cell)) }
func cellOf(s *Slot) uintptr    { return uintptr(unsafe.Pointer(s)) }

// find returns the slot of an address, or nil. The caller is pinned or holds Table.mu.
func (x *index) find(addr uintptr) *Slot {
	c := x.cells.Load()
	for i := c.first(addr); ; i = c.next(i) {
		if s := slotOf(atomic.LoadUintptr(&c.of[i])); s == nil || s.addr == addr {
			return s
		}
	}
}

// indexed returns the address at which the index has a vacant slot, 0 if it has not. A watched slot
// stays in the index until it has another block, which often begins where the last one did.
func (s *Slot) indexed() uintptr { return uintptr(s.len) }

// leave takes a vacant slot out. The caller holds Table.mu, as callers of add and remove do.
func (x *index) leave(s *Slot) {
	if at := s.indexed(); at != 0 {
		x.remove(s, at)
		s.len = 0
	}
}

// add enters a slot that has its address.
func (x *index) add(s *Slot) {
	c := x.cells.Load()
	if 4*(x.used+1) > 3*len(c.of) {
		c = x.resize()
	}
	i := c.first(s.addr)
	for c.of[i] != 0 && c.of[i] != removed {
		i = c.next(i)
	}
	if c.of[i] == 0 {
		x.used++
	}
	x.slots++
	c.of[i] = cellOf(s)
}

// remove takes out a slot that was entered with an address.
func (x *index) remove(s *Slot, addr uintptr) {
	c, cell := x.cells.Load(), cellOf(s)
	i := c.first(addr)
	for c.of[i] != cell {
		i = c.next(i)
	}
	x.slots--
	if c.of[c.next(i)] != 0 {
		c.of[i] = removed
		return
	}
	c.of[i] = 0
	x.used--
}

// resize moves the slots to new cells, so that at most three eighths are used. A find that runs
// meanwhile looks in the old cells, which do not change.
func (x *index) resize() *cells {
	n := leastCells
	for 8*(x.slots+1) > 3*n {
		n *= 2
	}
	c := newCells(n)
	x.each(func(s *Slot) { c.enter(s) })
	x.used = x.slots
	x.cells.Store(c)
	return c
}

func (c *cells) enter(s *Slot) {
	addr := s.addr
	if addr == noBlock {
		addr = s.indexed()
	}
	i := c.first(addr)
	for c.of[i] != 0 {
		i = c.next(i)
	}
	c.of[i] = cellOf(s)
}

// current reads the address of s again: meanwhile s may have another block and another owner.
// s may be nil.
func (s *Slot) current(addr uintptr) (*Slot, uint64, int) {
	if s == nil {
		return nil, 0, 0
	}
	gen := s.Generation()
	if s.lent.get()&^bySlice != lentTo(gen) || s.addr != addr {
		return nil, 0, 0
	}
	return s, gen, s.Asked()
}

// each calls f with every slot. The caller holds Table.mu.
func (x *index) each(f func(*Slot)) {
	for _, cell := range x.cells.Load().of {
		if cell != 0 && cell != removed {
			f(slotOf(cell))
		}
	}
}
