package slab

import "fmt"

// Stats counts what a pool has done and says where its memory is. While the
// pool is in use the figures are of slightly different moments; when
// no call runs, they are exact and
//
//	ManagedBytes = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
type Stats struct {
	ActiveBlocks, HeldBlocks int64

	ActiveBytes      int64 // of buffers that are out, as asked for
	HeldBytes        int64 // free: in caches, lists, slabs and ranges, and what waits for streams
	RoundingBytes    int64 // what active blocks have beyond what was asked
	UnusableBytes    int64 // tails of slabs; blocks forgotten off the heap whose bytes escaped
	ManagedBytes     int64 // from upstream now
	PeakManagedBytes int64 // from upstream at most

	WaitingBlocks, WaitingBytes int64 // of the held: until streams that use it are done

	Hits, Misses                  int64 // Gets served from held memory; Gets that went upstream
	UpstreamAllocs, UpstreamFrees int64 // calls that succeeded
	Forgotten                     int64 // buffers that came back without Release
	DoubleReleases                int64 // Releases that returned ErrReleased
}

// Stats returns the counters, added up over the processors.
func (p *Pool) Stats() Stats { return p.c.stats() }

func (k *core) stats() Stats {
	var s Stats
	cached, gets, puts, asked := k.cache.usage()
	s.ActiveBlocks, s.ActiveBytes = gets-puts, asked
	s.DoubleReleases = k.doubles.Load()
	k.mu.Lock()
	parked, forgotten, quarantined := k.parked, k.forgotten, k.quarantined
	k.mu.Unlock()
	s.ActiveBlocks -= forgotten.blocks
	s.ActiveBytes -= forgotten.bytes
	s.Forgotten = forgotten.blocks
	s.UpstreamAllocs, s.UpstreamFrees = k.ledger.allocs.Load(), k.ledger.frees.Load()
	s.Misses = min(s.UpstreamAllocs, gets)
	s.Hits = gets - s.Misses
	s.ManagedBytes, s.PeakManagedBytes = k.ledger.managed.Load(), k.ledger.peak.Load()

	u := k.usage(s)
	waiting := k.streams.tally()
	s.WaitingBlocks, s.WaitingBytes = waiting.blocks, waiting.bytes
	s.HeldBlocks = u.HeldBlocks + cached.blocks + parked.blocks + waiting.blocks
	s.HeldBytes = u.HeldBytes + cached.bytes + parked.bytes + waiting.bytes
	s.UnusableBytes = u.UnusableBytes + quarantined.bytes
	// All that the strategy has handed out is active, cached, parked, waiting
	// or in quarantine; what is left is what rounding costs.
	s.RoundingBytes = u.ActiveBytes + u.RoundingBytes - s.ActiveBytes - cached.bytes - parked.bytes - waiting.bytes - quarantined.bytes
	return s
}

// usage asks the strategy. Of one that does not tell, all that is managed is handed out.
func (k *core) usage(s Stats) Usage {
	if u, ok := k.strategy.(User); ok {
		return u.Usage()
	}
	return Usage{ActiveBytes: s.ManagedBytes}
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

// failed makes the error of a Get out of a strategy's.
func (k *core) failed(size, class int, err error) error {
	if !outOfMemory(err) {
		return err
	}
	s := k.stats()
	return &OutOfMemoryError{size, class, s.HeldBytes, s.ActiveBytes, err}
}
