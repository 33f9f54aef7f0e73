package handle

import (
	"runtime"
	"unsafe"
)

// Slots are in groups. Each group begins with a header that names the owner of its
// slots. Every Release reads the header. So the header must not share a cache line
// with a slot that another processor writes: that made a hit on two processors three
// times slower. A slot that is alone in its group shares a line with the header, so
// that its Release touches one line, not two.
//
// The collector marks each group, so a group is large where a region has many blocks. The
// collector reads only the header, as slots have no pointers. The runtime puts a word in
// front of objects with pointers from 512 bytes to 32 KiB, so headers and slots leave a word
// of their lines free.
type header struct {
	region *Region
	_      [headerBytes - 2*unsafe.Sizeof(uintptr(0))]byte // not last: Go adds a byte after a final field of size 0
	owner  unsafe.Pointer                                  // of the Table
}

const (
	lineBytes   = 64
	headerBytes = 16 // Slot.back counts in this unit: with a smaller one it could not reach a group's last slot
	groupSlots  = 62 // with the header and the runtime's word they fill 4 KiB
)

// A padded slot is on a cache line of its own.
type paddedSlot struct {
	Slot
	_ [lineBytes - unsafe.Sizeof(Slot{})]byte
}

type (
	// A single is a group of one slot. Slots with a finalizer are singles.
	single struct {
		header
		slot Slot
	}
	group struct {
		header
		_     [lineBytes - headerBytes]byte
		slots [groupSlots]paddedSlot
	}
)

// header returns the header of the slot's group.
func (s *Slot) header() *header {
	return (*header)(unsafe.Add(unsafe.Pointer(s), -headerBytes*int(s.back)))
}

// Owner returns the owner that the Table was opened with: the pool of the slot.
func (s *Slot) Owner() unsafe.Pointer { return s.header().owner }

// init makes a slot at distance back behind its header.
func (s *Slot) init(back uint8) {
	s.back, s.addr = back, noBlock
	s.lent.set(lentTo(nextGen)) // not to generation 0, which is the first
}

func newSingle(r *Region) *Slot {
	g := &single{header: r.header()}
	g.slot.init(1)
	return &g.slot
}

func newGroup(r *Region) *group {
	g := &group{header: r.header()}
	for i := range g.slots {
		g.slots[i].init(uint8(lineBytes * (i + 1) / headerBytes))
	}
	return g
}

// newWatched returns a single slot with a finalizer.
func newWatched(r *Region) *Slot {
	s := newSingle(r)
	s.flags = watched
	s.watch()
	return s
}

// watch sets the finalizer. The runtime has removed it when it runs.
func (s *Slot) watch() {
	runtime.SetFinalizer(s.single(), func(g *single) { g.region.table.slotDead(&g.slot) })
}

func (s *Slot) unwatch() { runtime.SetFinalizer(s.single(), nil) }

func (s *Slot) single() *single { return (*single)(unsafe.Pointer(s.header())) }
