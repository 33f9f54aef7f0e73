// Package handle gives blocks slots, which handles point to, and finds the blocks
// whose handles were forgotten.
//
//	slot.go      which generation of handle owns a block
//	lent.go      whom a slot is lent to, and what the owner has shown
//	group.go     where slots stand in memory
//	region.go    the slots of one device region
//	index.go     the slot of an address
//	table.go     the regions of a pool
//	finalize.go  how forgotten blocks come back
//	part.go      slots of handles that share the block of another
//	sampled.go   which owners are in a profile
//	owned*.go    what an owner writes without a lock
//	givenup*.go  what the race detector and asan are told
package handle

import (
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Table holds the regions of a pool. It is safe for concurrent use.
type Table struct {
	owner   unsafe.Pointer
	options Options

	watchedBytes lockedNumber

	mu       *sync.Mutex // Options.Lock, taken before the locks that Options.Forgotten takes
	regions  map[device.Region]*Region
	recent   *Region // found last
	index    index
	doubted  map[ID]uint64 // generations of slots that doubts was asked about
	deferred Tally
	stopped  bool // no vacant slot is kept
}

// Options are what a Table needs to know of its pool.
type Options struct {
	Lock *sync.Mutex // guards the Table; nil: it has its own

	WatchCollected bool // regions that the garbage collector owns may be watched
	WatchFrom      int  // bytes from which a block off the Go heap has a finalizer

	WatchUnreachableFrom int // the same of memory that the CPU cannot reach

	// Forgotten is told of each forgotten block, with the table locked. The generation
	// of its owner has ended. escaped says that a slice of the memory may still be in
	// use, so that the block must not be handed out again. It reports whether streams
	// still use the block: then the pool frees it later.
	Forgotten func(e Entry, escaped bool) (inUse bool)
	// PartForgotten is told of each forgotten part of root whose block Forgotten is not
	// told of, or of another handle. part is nil on the Go heap, where no one knows which.
	PartForgotten func(root, part *Slot)
	// Found is told of each region that the collector has found dead and in which no block
	// has a slot, once the region has its memory back. No lock is held.
	Found func(device.Region)
	// Free takes forgotten blocks back for the strategy, Quarantine one that has
	// escaped. No lock is held.
	Free       func([]Allocation)
	Quarantine func(Allocation)
}

// A Tally counts blocks and bytes. Its owner's lock guards it.
type Tally struct{ Blocks, Bytes int64 }

// Add counts a block of n bytes, Sub takes it from the count.
func (t *Tally) Add(n int) { t.Blocks++; t.Bytes += int64(n) }

// Sub undoes Add.
func (t *Tally) Sub(n int) { t.Blocks--; t.Bytes -= int64(n) }

// Open makes t ready. owner is the pool, to be found again by Slot.Owner.
func (t *Table) Open(owner unsafe.Pointer, o Options) {
	t.owner, t.options, t.regions = owner, o, map[device.Region]*Region{}
	if t.mu = o.Lock; t.mu == nil {
		t.mu = new(sync.Mutex)
	}
	t.index.cells.Store(newCells(leastCells))
}

// WatchedBytes returns the bytes of blocks that only a finalizer would find
// forgotten: the garbage collector does not see that memory.
func (t *Table) WatchedBytes() int64 { return int64(t.watchedBytes.Load()) }

// Deferred counts the blocks that the table keeps until the collector has
// reported their region dead.
func (t *Table) Deferred() Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deferred
}

// Attach gives a block, fresh from the strategy, a slot of the class. extent is the
// number that the strategy knows it by, or 0. Attach reports
// false while the collector is about to report the region dead: the table then keeps
// the block until that has happened, and the caller asks the strategy again. The caller holds
// Options.Lock, as those of Lengthen and Detach do.
func (t *Table) Attach(b device.Block, extent int32, class int, isSimple bool) (e Entry, ok bool) {
	r := t.recent // where all blocks are of one range it is always that one
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

// collectedBase returns where the memory of a region of the Go heap begins, or nil while the
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

// Lengthen is Detach, and Attach of the block with n bytes: it returns the slot that has it
// now, another one if such a block needs a finalizer. The caller has ended the generation,
// and keeps Entry.Mem alive.
func (t *Table) Lengthen(s *Slot, n, class int, isSimple bool) *Slot {
	r := s.header().region
	b, extent := r.detach(s)
	return r.attach(b.Off, n, extent, class, isSimple)
}

// Detach takes the block from the slot of an entry, with its number. The caller keeps Entry.Mem alive
// until the strategy has the block: else the collector might report the region dead
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
	x := &Region{table: t, region: r}
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

// Stop keeps no vacant slots with a finalizer from now on. Each reaches the pool, which
// reaches it: a region that cannot go, as a part of it is lost, would keep a pool that
// nobody uses for ever.
func (t *Table) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for _, r := range t.regions {
		r.unwatchVacant()
	}
}

// Forget forgets a region that goes upstream. A region stays while it has
// attached blocks: over an upstream that cuts regions they are shared with others. If upstream
// does not take the region, the caller calls stays: a region is watched only once.
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
