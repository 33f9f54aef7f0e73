package slab

import "fmt"

// Stats counts what a pool has done and says where its memory is. In every reading
//
//	ManagedBytes = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
//
// While the pool is in use the figures are of slightly different moments: what is on its
// way from one place to another then counts as RoundingBytes, which a Get or Release
// beside the reading can make too small. When no call runs all are exact.
//
// HeldBlocks counts blocks in caches and lists, free blocks of slabs and, with bestfit and
// slab, free extents: neighbours merge, so those are not the blocks that were released.
//
// If the upstream is a strategy itself, a [UsageReporter], what it holds beyond the pool's
// blocks is counted, too; PeakManagedBytes then knows of it what Stats has seen.
type Stats struct {
	ActiveBlocks, HeldBlocks int64

	ActiveBytes      int64 // of buffers that are out, as asked for
	HeldBytes        int64 // free: in caches, lists, slabs and ranges, and what waits for streams
	RoundingBytes    int64 // what active blocks have beyond what was asked
	UnusableBytes    int64 // tails of slabs; of blocks forgotten off the heap whose bytes escaped, what could not go back
	ManagedBytes     int64 // from upstream now, less what is on its way back; in ranges of mmap, pages count from their first use
	PeakManagedBytes int64 // from upstream at most

	WaitingBlocks, WaitingBytes int64 // of the held: until streams that use it are done

	Hits, Misses                  int64 // Gets without a call upstream; calls upstream, but no more than Gets
	UpstreamAllocs, UpstreamFrees int64 // calls that succeeded
	Forgotten                     int64 // buffers that the collector found forgotten, those in quarantine too
	DoubleReleases                int64 // Releases that returned ErrReleased
}

// Stats returns the counters, added up over the processors.
func (p *Pool) Stats() Stats { return p.opened().stats() }

func (p *pool) stats() Stats {
	var s Stats
	l := p.accounting
	u := usageOf(p.strategy, l.Managed()) // first: what reaches the strategy meanwhile is not counted twice
	cached := p.cache.Usage()
	deferred, waiting := p.table.Deferred(), p.pending.Waiting()
	forgotten, quarantined := p.leaks.counts()

	s.ActiveBlocks = cached.Gets - cached.Releases - forgotten.Blocks
	s.ActiveBytes = cached.Asked - forgotten.Bytes
	s.Forgotten, s.DoubleReleases = forgotten.Blocks, p.leaks.doubles.Load()
	s.UpstreamAllocs, s.UpstreamFrees = l.Allocs(), l.Frees()
	s.Misses = min(s.UpstreamAllocs, cached.Gets)
	s.Hits = cached.Gets - s.Misses
	s.ManagedBytes, s.PeakManagedBytes = u.ManagedBytes(), l.Peak()

	s.WaitingBlocks, s.WaitingBytes = waiting.Blocks, waiting.Bytes
	s.HeldBlocks = u.HeldBlocks + cached.Blocks + deferred.Blocks + waiting.Blocks
	s.HeldBytes = u.HeldBytes + cached.Bytes + deferred.Bytes + waiting.Bytes
	s.UnusableBytes = u.UnusableBytes + quarantined.Bytes
	below := keptBelow(p.upstream)
	s.HeldBlocks += below.HeldBlocks
	s.HeldBytes += below.HeldBytes
	s.UnusableBytes += below.UnusableBytes
	s.ManagedBytes += below.ManagedBytes()
	s.PeakManagedBytes = max(s.PeakManagedBytes, s.ManagedBytes)
	// All that the strategy has handed out is active, cached, deferred, waiting or in
	// quarantine; what is left is what rounding costs.
	s.RoundingBytes = u.ActiveBytes + u.RoundingBytes - s.ActiveBytes - cached.Bytes - deferred.Bytes - waiting.Bytes - quarantined.Bytes + below.RoundingBytes
	return s
}

// usageOf asks a strategy. If it does not tell, all managed bytes count as handed out.
func usageOf(strategy Allocator, managed int64) Usage {
	if u, ok := strategy.(UsageReporter); ok {
		return u.Usage()
	}
	return Usage{ActiveBytes: managed}
}

// An OutOfMemoryError says that there was no room, though all held memory had
// been given back. It wraps what the upstream said, and so [device.ErrOutOfMemory].
type OutOfMemoryError struct {
	Size, Class            int // bytes as asked for; bytes of the block wanted
	HeldBytes, ActiveBytes int64
	Err                    error
}

func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("slab: no room for %d bytes (a block of %d), %d held, %d active: %v",
		e.Size, e.Class, e.HeldBytes, e.ActiveBytes, e.Err)
}

// Unwrap returns the upstream's error.
func (e *OutOfMemoryError) Unwrap() error { return e.Err }

// A UsageReporter says what an allocator does with the bytes that it has from
// upstream. Every strategy is one.
type UsageReporter interface{ Usage() Usage }

// Usage splits the bytes that a strategy has from its upstream:
//
//	managed = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
type Usage struct {
	ActiveBlocks, HeldBlocks int64
	ActiveBytes              int64 // as asked for
	RoundingBytes            int64 // what active blocks have beyond that
	HeldBytes                int64 // free, and could be handed out
	UnusableBytes            int64 // the rest: tails of slabs, alignment
}

// ManagedBytes is the sum of the four.
func (u Usage) ManagedBytes() int64 {
	return u.ActiveBytes + u.RoundingBytes + u.HeldBytes + u.UnusableBytes
}
