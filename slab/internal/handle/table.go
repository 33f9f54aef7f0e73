// Package handle gives blocks slots, which handles point to, and finds the blocks
// whose handles were forgotten.
//
//	slot.go      which generation of handle owns a block
//	lent.go      the owner of a slot, and whether it has a slice
//	group.go     where slots lie in memory
//	region.go    the slots of one device region
//	shared.go    the state that all regions share
//	index.go     the slot of an address
//	refer.go     how an owner is found by a number
//	numbers.go   the numbers of a table
//	part.go      slots of handles that share the block of another
//	finalize.go  how forgotten blocks come back
//	table.go     the regions of a pool
//	options.go   facts and functions of the pool
//	sampled.go   which owners are in a profile
//	owned*.go    fields that an owner writes without a lock
//	givenup*.go  calls for the race detector and asan
package handle

import (
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
)

// A Table holds the regions of a pool. It is safe for concurrent use.
type Table struct {
	shared
	regions map[device.Region]*Region
	recent  *Region // found last
}

// Open makes t ready. owner is the pool, which Slot.Owner returns.
func (t *Table) Open(owner unsafe.Pointer, o Options) {
	t.owner, t.options, t.regions = owner, o, map[device.Region]*Region{}
	t.parts = new(sync.Pool)
	t.mu, t.slotDead, t.partDead = o.Lock, t.onSlotDead, t.onPartDead
	t.index.cells.Store(newCells(leastCells))
}

// Attach gives a block, fresh from the strategy, a slot of the class. extent is the
// block's number in the strategy, or 0. Attach reports false while the collector is about
// to report the region dead: the table then keeps the block until the report, and the
// caller asks the strategy again. The caller holds Options.Lock, as callers of Lengthen and
// Detach do.
func (t *Table) Attach(b device.Block, extent int32, class int, isSimple bool) (e Entry, ok bool) {
	r := t.recent // if all blocks are of one range, it is always that range
	if r == nil || r.region != b.Region {
		r = t.lookUp(b.Region)
	}
	base := r.base
	if r.collected != nil {
		if base = r.collectedBase(); base == nil {
			r.putOff(b, extent)
			return Entry{}, false
		}
	}
	return r.entry(r.attach(b.Off, b.Len, extent, class, isSimple), base), true
}

// Lengthen is Detach, and Attach of the block with n bytes. It returns the slot that has the
// block now: another slot if the longer block needs a finalizer. The caller has ended the
// generation, and keeps Entry.Mem alive.
func (t *Table) Lengthen(s *Slot, n, class int, isSimple bool) *Slot {
	r := s.header().region
	b, extent := r.detach(s)
	return r.attach(b.Off, n, extent, class, isSimple)
}

// Detach takes the block from the slot of an entry, with its number. The caller keeps Entry.Mem alive
// until the strategy has the block: otherwise the collector might report the region dead
// meanwhile.
func (t *Table) Detach(s *Slot) (device.Block, int32) {
	return s.header().region.detach(s)
}

// lookUp returns the Region of r, a new one at its first block. The caller holds t.mu.
func (t *Table) lookUp(r device.Region) *Region {
	x, ok := t.regions[r]
	if !ok {
		x = t.newRegion(r)
	}
	t.recent = x
	return x
}

func (t *Table) newRegion(r device.Region) *Region {
	x := &Region{table: &t.shared, region: r}
	t.regions[r] = x
	if m, ok := r.(device.Collected); ok && t.options.WatchCollected {
		x.collected = m
		m.Watch(func() { t.onRegionDead(x) })
	} else if m, ok := r.(device.HostRegion); ok {
		x.base = unsafe.Pointer(unsafe.SliceData(m.Bytes()))
		x.addr = uintptr(x.base)
	}
	return x
}

// IsVacant reports whether no block has a slot.
func (t *Table) IsVacant() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.regions {
		if r.attached > 0 {
			return false
		}
	}
	return true
}

// Stop keeps no vacant slots with a finalizer from now on. Such a slot and the pool reach each
// other: a region that cannot go, as a part of it is lost, would keep an unused pool for ever.
func (t *Table) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for _, r := range t.regions {
		r.unwatchVacant()
	}
}

// Forget forgets a region that goes upstream. A region stays while it has attached
// blocks: an upstream that cuts regions shares them with others. If the upstream does not take
// the region, the caller calls stays: a region is watched only once.
func (t *Table) Forget(r device.Region) (stays func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, ok := t.regions[r]
	if !ok || x.attached > 0 {
		return func() {}
	}
	delete(t.regions, r)
	t.recent = nil
	x.unwatchVacant()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.regions[r] = x
	}
}

// Find returns the slot of the block that begins at addr, with the owner's generation and the
// bytes that the owner asked for. It returns no slot if no owner has such a block.
func (t *Table) Find(addr uintptr) (s *Slot, gen uint64, n int) {
	if pin.ByRuntime {
		on := pin.Pin()
		s, gen, n = t.FindPinned(addr)
		pin.Unpin(on)
		return s, gen, n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.FindPinned(addr)
}

// FindPinned is Find for a goroutine that the runtime has pinned.
func (t *Table) FindPinned(addr uintptr) (*Slot, uint64, int) {
	return t.index.find(addr).current(addr)
}

// Unfound adds up the bytes asked for by owners off the Go heap that the collector would not report: owners of a raw
// slice alone, and others whose slot has no finalizer. It looks at each block of the pool.
func (t *Table) Unfound() (slices, unwatched Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.index.each(func(s *Slot) {
		switch {
		case s.addr == noBlock:
		case s.isBySlice():
			slices.Add(s.Asked())
		case s.flags&watched == 0 && s.isLent():
			unwatched.Add(s.Asked())
		}
	})
	return slices, unwatched
}
