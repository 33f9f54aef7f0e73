// Package pageheap cuts memory of an upstream into extents of any size, for the
// strategies bestfit and slab. It is two-level segregated fit over records outside
// the memory, so it works for memory that the CPU cannot reach. A file uses only
// files above it in this list; the first two use each other.
//
//	extent.go      extents tile a segment: split, merge
//	tlsf.go        the index that finds a free extent
//	pagemap.go     which extents begin in a page
//	window.go      the most bytes that were in use lately
//	segment.go     the memory: regions of the upstream, their extents, and counts
//	block.go       extents as blocks of the upstream: which extent a byte lies in
//	place.go       where free memory is taken: where it fits best, or where the owner says
//	strand.go      extents in quarantine, and free memory that is unusable because of them
//	check.go       the invariants
//	policy.go      how much to ask of the upstream at a time
//	equal.go       the same for large blocks of one size
//	heap.go        the heap: its locks, options and counts
//	report.go      all extents, and the free ones by size, for a report
//	leave.go       whole segments, or pages of a range, on their way upstream
//	giveup.go      pages and addresses that go for good
//	release.go     which memory goes back, and when
//	spare.go       a trim: memory that was free for long, or that a load does not need
//	quarantine.go  memory that is never handed out again
//	plan.go        which bytes of a range to commit, and how many
//	makegood.go    before a new peak: whether to grow by new pages, and what goes back for them
//	range.go       ranges that grow in place: how many addresses, and when they go
//	grow.go        more memory: extend a range, or add a segment
//	alloc.go       alloc and free
//	sides.go       the memory that a processor used last
//	prefill.go     memory before it is needed
//	extend.go      a longer extent where it is
//	roomy.go       places with room to extend
package pageheap

import (
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Heap hands out extents. Methods that say so must be called with the lock held, so
// that an owner can keep its own records under it; the others take it themselves.
//
// Memory comes and goes under growMu, without mu: others alloc and free meanwhile. The
// upstream may panic in any call: both locks are then free, and the heap is as before. The
// order is growMu, mu, then the locks of the upstream.
type Heap struct {
	up      upstream.Checked
	options Options

	growMu  sync.Mutex // before mu
	stopped bool       // StopHolding was called; under growMu

	mu *sync.Mutex // options.Lock; guards all below
	memory
	policy  growthPolicy
	maxHeld int64   // options.MaxHeld until StopHolding, then 0
	drainAt int64   // managed bytes from which draining is worth it again
	freed   []int32 // the free extents that Frees made since ReleaseOverHeld, if too much is held
	steps   int     // since the last check, in check builds
}

// Options of a Heap.
type Options struct {
	Align      int     // of extents, a power of two of at least 8
	MissTarget float64 // share of allocations that may go upstream
	Locked     bool    // memory is page-locked: ask for the need only
	Numbered   bool    // Locate is always told the extent: no page map is kept
	MaxHeld    int64   // bytes that may be held free; the largest int64 is no bound
	// BeforePeak is called before the heap passes its old peak, without a lock. It may
	// free extents that nobody needs. May be nil.
	BeforePeak func()
	// Gets counts the Gets of the owner, which serves some of them from its own memory. The miss
	// target is a share of all. May be nil.
	Gets func() int64
	// Processor returns the number of the processor that the caller runs on; see sides.go. May be nil.
	Processor func() int

	Lock *sync.Mutex // of the heap, and of what its owner keeps under it; nil: it has its own
}

// New returns an empty Heap that draws on up.
func New(up upstream.Checked, o Options) *Heap {
	if o.Lock == nil {
		o.Lock = new(sync.Mutex)
	}
	h := &Heap{
		up:      up,
		options: o,
		mu:      o.Lock,
		memory:  newMemory(o.Align, o.Numbered, up.OwnsRegions()),
		policy:  newGrowthPolicy(o.MissTarget),
		maxHeld: o.MaxHeld,
	}
	h.processor = o.Processor
	return h
}

// Lock takes the lock of the heap, which also guards fields of its owner.
func (h *Heap) Lock() { h.mu.Lock() }

// Unlock gives the lock back.
func (h *Heap) Unlock() {
	h.Verify()
	h.mu.Unlock()
}

// Verify panics if check finds a fault, in check builds: after each step of a small heap. In a large
// heap the number of steps between two checks is its number of extents. Unlock calls Verify; an owner
// that gives the lock back itself calls it with the lock held.
func (h *Heap) Verify() {
	if !invariants.Enabled {
		return
	}
	if h.steps++; len(h.records) > 200 && h.steps < len(h.records) {
		return
	}
	h.steps = 0
	err := h.check()
	if err == nil && h.managed > h.policy.high {
		err = fmt.Errorf("%d bytes managed, %d at most", h.managed, h.policy.high)
	}
	if err != nil {
		panic("slab: pageheap: " + err.Error())
	}
}

// unlocked runs f, which goes upstream, without the lock that the caller holds
// before and after: also if f panics.
func (h *Heap) unlocked(f func() error) error {
	h.mu.Unlock()
	defer h.mu.Lock()
	return f()
}

// Grew tells the growth policy of an allocation of size bytes, Shrank of a free.
// The caller holds the lock.
func (h *Heap) Grew(size int) { h.policy.grew(size, h.usedBytes()) }

// Shrank tells the growth policy that size bytes were given back. The caller holds the lock.
func (h *Heap) Shrank(size int) { h.policy.shrank(size) }

// Counts are the bytes that a Heap has from its upstream.
type Counts struct {
	ManagedBytes int64
	FreeBlocks   int64 // extents
	FreeBytes    int64
	ExcessBytes  int64 // of regions, beyond the bytes asked for
	Quarantined  int64 // bytes that are never handed out again, and did not go back
}

// Counts returns the counters. The caller holds the lock.
func (h *Heap) Counts() Counts {
	return Counts{h.managed, h.index[free].count, h.index[free].bytes, h.excess, h.isolated}
}

// PeakUsed returns the most bytes that were in use at a time, rounding included.
func (h *Heap) PeakUsed() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.peakUsed
}

// OverHeld reports whether more memory is free than may be held: the caller then unlocks, and
// calls ReleaseOverHeld. The caller holds the lock.
func (h *Heap) OverHeld() bool { return h.index[free].bytes > h.maxHeld }
