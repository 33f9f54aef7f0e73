// Package pageheap cuts memory of an upstream into extents of any size: what
// the strategies bestfit and slab have in common. It is two-level segregated
// fit over records that stand outside the memory, so it works for memory that
// the CPU cannot reach.
//
//	heap.go        the heap: alloc and free
//	extent.go      extents tile a segment: split, merge
//	tlsf.go        the index that finds a free extent
//	block.go       extents as blocks of the upstream
//	pagemap.go     which extent a byte lies in
//	segment.go     the regions of the upstream
//	policy.go      how much to ask of the upstream at a time
//	range.go       ranges that grow in place: how many addresses, and when they go
//	plan.go        which bytes of a range to commit
//	grow.go        more memory: extend a range, or add a segment
//	prefill.go     memory before it is needed, and how much was
//	place.go       an extent at a place that the owner names
//	extend.go      a longer extent where it is
//	roomy.go       places with room to extend
//	makegood.go    whether to grow by new pages, and what goes back for them
//	release.go     less memory: what goes back, and when
//	spare.go       what goes back beside a load
//	leave.go       whole segments, or pages of a range, on their way upstream
//	quarantine.go  memory that is never handed out again
//	strand.go      what is free beside that, and of use to nobody
//	walk.go        all extents, for a report
//	fragments.go   the free extents by size
//	check.go       the invariants
package pageheap

import (
	"sync"

	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Heap hands out extents. Methods that say so must be called with the lock held, so
// that an owner can keep its own records under it; the others take it themselves.
//
// Memory comes and goes under growMu, without mu: others alloc and free meanwhile. The upstream may panic in any call: both
// locks are then free, and the heap is as before. The order is growMu, mu, then what the
// upstream locks.
type Heap struct {
	up       upstream.Checked
	decommit bool
	locked   bool
	numbered bool
	drain    func() // Options.BeforePeak
	gets     func() int64

	growMu  sync.Mutex // before mu
	stopped bool       // StopHolding was called; under growMu

	mu *sync.Mutex // Options.Lock; guards all below
	extents
	segments
	policy   growthPolicy
	maxHeld  int64
	managed  int64   // bytes from upstream
	excess   int64   // of them, what regions have beyond the segments asked for
	isolated int64   // of them, in quarantine
	expected int     // see Expect
	drainAt  int64   // managed bytes from which draining is worth it again
	peakUsed int64   // the most of them that were not free
	peakLeft int64   // the same after a Free: without the two blocks of a copy
	freed    []int32 // the free extents that Frees made since ReleaseOverHeld, if more is held than may be
	window   window
	steps    int // since the last check, in check builds
}

// Options are what a Heap can be told.
type Options struct {
	Align      int     // of extents, a power of two of at least 8
	MissTarget float64 // share of allocations that may go upstream
	Decommit   bool    // give small free pages back before a new peak, too
	Locked     bool    // memory is page-locked: ask for no more than is needed
	Numbered   bool    // Locate is always told the extent: no page map is kept
	MaxHeld    int64   // bytes that may be held free; the largest int64 is no bound
	// BeforePeak is called before the heap passes its old peak, without a lock. It may
	// free extents that nobody needs. May be nil.
	BeforePeak func()
	// Gets counts what was asked of the owner, who serves some of it from what it has. The
	// miss target is a share of that. May be nil.
	Gets func() int64
	Lock *sync.Mutex // of the heap, and of what its owner keeps under it; nil: it has its own
}

// New returns an empty Heap that draws on up.
func New(up upstream.Checked, o Options) *Heap {
	if o.Lock == nil {
		o.Lock = new(sync.Mutex)
	}
	return &Heap{
		up:       up,
		decommit: o.Decommit,
		locked:   o.Locked,
		numbered: o.Numbered,
		drain:    o.BeforePeak,
		maxHeld:  o.MaxHeld,
		extents:  newExtents(o.Align),
		segments: newSegments(),
		policy:   newGrowthPolicy(o.MissTarget),
		gets:     o.Gets,
		mu:       o.Lock,
	}
}

// Lock takes the lock of the heap and what its owner keeps under it.
func (h *Heap) Lock() { h.mu.Lock() }

// Unlock gives the lock back.
func (h *Heap) Unlock() {
	h.Verify()
	h.mu.Unlock()
}

// unlocked runs f, which goes upstream, without the lock that the caller holds
// before and after: also if f panics.
func (h *Heap) unlocked(f func() error) error {
	h.mu.Unlock()
	defer h.mu.Lock()
	return f()
}

// Alloc returns a used extent of at least size bytes. The caller holds the
// lock, which is given back while the heap goes upstream.
func (h *Heap) Alloc(size int) (int32, error) {
	n := align.Up(size, h.align)
	for drained := false; ; {
		if i := h.AllocFree(size); i != none {
			return i, nil
		}
		if !drained && h.worthDraining(n) {
			drained = true
			h.drainOthers()
			continue
		}
		err := h.unlocked(func() error { return h.grow(n) })
		if err == nil {
			continue
		}
		if i := h.scan(free, h.listFor(n), n, maxInt); i != none && upstream.OutOfMemory(err) {
			return h.take(i, n, size), nil // too deep in its list for find
		}
		return none, err
	}
}

// AllocFree is Alloc that does not go upstream: it returns 0 where no free extent fits. The
// caller holds the lock.
func (h *Heap) AllocFree(size int) int32 {
	n := align.Up(size, h.align)
	i := h.find(free, n)
	if i == none {
		return none
	}
	return h.take(i, n, size)
}

// take makes n bytes of the free extent i used.
func (h *Heap) take(i int32, n, size int) int32 {
	x := h.use(i, n, size)
	h.segs[x.seg].used++
	h.notePeak()
	h.mapUsed(i)
	return i
}

// Free takes a used extent back. The caller holds the lock.
func (h *Heap) Free(i int32) {
	h.unmapUsed(i)
	h.segs[h.at(i).seg].used--
	if i = h.merge(i, free); h.OverHeld() {
		h.freed = append(h.freed, i)
	}
	h.peakLeft = max(h.peakLeft, h.usedBytes())
}

// Grew tells the growth policy of an allocation of size bytes, Shrank of a free.
// The caller holds the lock.
func (h *Heap) Grew(size int) { h.policy.grew(size) }

// Shrank tells the growth policy that size bytes were given back. The caller holds the lock.
func (h *Heap) Shrank(size int) { h.policy.shrank(size) }

// Counts say what a Heap has from its upstream.
type Counts struct {
	ManagedBytes int64
	FreeBlocks   int64 // extents
	FreeBytes    int64
	ExcessBytes  int64 // what regions have beyond what was asked for
	Quarantined  int64 // bytes that are never handed out again, and did not go back
}

// Counts returns the counters. The caller holds the lock.
func (h *Heap) Counts() Counts {
	return Counts{h.managed, h.index[free].count, h.index[free].bytes, h.excess, h.isolated}
}

// OverHeld reports whether more is free than may be held: the caller then calls
// ReleaseOverHeld when it has given back the lock, which it holds now.
func (h *Heap) OverHeld() bool { return h.index[free].bytes > h.maxHeld }
