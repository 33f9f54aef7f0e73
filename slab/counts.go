package slab

import (
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/percpu"
)

// Stats returns the counters, added up over the processors.
func (p *Pool) Stats() Stats { return p.opened().stats().bounded() }

// stats is Stats before bounded: tests need to see what does not add up.
func (p *pool) stats() (s Stats) {
	u := p.countMemory(&s)
	before, after := p.cache.Served(), p.cache.Usage()
	p.countOut(&s, before, after.Served)
	p.countHeld(&s, u, after)
	// Of the managed bytes the strategy has handed out what is active, cached, deferred, waiting or in quarantine;
	// the rest is rounding.
	s.RoundingBytes = s.ManagedBytes - s.ActiveBytes - s.HeldBytes - s.UnusableBytes
	p.countEvents(&s, after.Served)
	return s
}

// countMemory says what the pool has from its upstream, and then what of it the strategy holds: what goes upstream in
// between is rounding, and no debt.
func (p *pool) countMemory(s *Stats) Usage {
	drawn := p.accounting.Drawn()
	below := keptBelow(p.upstream)
	s.ManagedBytes, s.MaxBytes = p.accounting.Managed(), p.config.MaxBytes
	below.HeldBytes = max(0, below.HeldBytes-(p.accounting.Drawn()-drawn)) // the pool has that by now
	s.ManagedBytes += below.ManagedBytes()
	p.accounting.RaisePeak(s.ManagedBytes) // nobody tells of what lies below
	s.PeakManagedBytes = max(p.accounting.Peak(), s.ManagedBytes)

	u, withheld := usageOf(p.strategy, 0), p.guard.Usage().Withheld
	s.HeldBlocks, s.HeldBytes = u.HeldBlocks+below.HeldBlocks, u.HeldBytes+below.HeldBytes
	s.UnusableBytes = u.UnusableBytes + withheld + below.UnusableBytes
	s.WithheldBytes = withheld
	return u
}

// mostLooks is how often countOut compares two readings, and enoughShare the share of the active bytes, as a divisor,
// that may be released between them.
const mostLooks, enoughShare = 3, 64

// countOut counts the buffers that were got and neither released nor found forgotten: by an earlier reading of the
// Gets and a later one of the rest, so that they were all out in between. What was released between the two is
// missing. If that is much, countOut goes on with the next reading.
func (p *pool) countOut(s *Stats, before, after percpu.Served) {
	for looks := 1; ; looks++ {
		blocks, bytes := percpu.Out(before, after)
		forgotten, _, _ := p.leaks.Counts()
		blocks, bytes = blocks-forgotten.Blocks, bytes-forgotten.Bytes
		if looks == 1 || bytes > s.ActiveBytes {
			s.ActiveBlocks, s.ActiveBytes = blocks, bytes
		}
		if looks == mostLooks || after.Released-before.Released <= s.ActiveBytes/enoughShare {
			break
		}
		before, after = after, p.cache.Served()
	}
	s.PeakActiveBytes = p.peak.all(s.ActiveBytes)
}

// countHeld adds what is held above the strategy, whose Usage is u.
func (p *pool) countHeld(s *Stats, u Usage, cached percpu.Usage) {
	if isBuiltin(p.config.Strategy) { // others may not count blocks
		cached.Blocks = min(cached.Blocks, u.ActiveBlocks) // a block that changes caches may count twice
	}
	deferred, waiting := p.table.Deferred(), p.pending.Waiting()
	s.WaitingBlocks, s.WaitingBytes = waiting.Blocks, waiting.Bytes
	s.HeldBlocks += cached.Blocks + deferred.Blocks + waiting.Blocks
	s.HeldBytes += cached.Bytes + deferred.Bytes + waiting.Bytes
	_, quarantined, _ := p.leaks.Counts()
	s.UnusableBytes += quarantined.Bytes
}

// countEvents adds the counts that only grow.
func (p *pool) countEvents(s *Stats, n percpu.Served) {
	s.Hits, s.Misses, s.AllocatedBytes = n.Hits, n.Misses, n.Got
	s.UpstreamAllocs, s.UpstreamFrees = p.accounting.Allocs(), p.accounting.Frees()
	forgotten, _, parts := p.leaks.Counts()
	s.Forgotten = forgotten.Blocks + parts
	s.DoubleReleases, s.ForeignPuts = p.leaks.Misuse()
	s.Guarded, s.GuardFaults = p.guard.counts()
	s.Failed, s.Collections = p.counted.failed.Load(), p.gc.Ran()
	s.Trims, s.TrimmedBytes = p.counted.trims.Load(), p.counted.trimmed.Load()
	s.PressureSteps, s.PressureBytes = p.counted.steps.Load(), p.counted.relieved.Load()
	s.Waiters, s.Waits, s.WaitTime = p.waits.now.Load(), p.waits.calls.Load(), time.Duration(p.waits.nanoseconds.Load())
}

// managed returns the bytes that the strategy has from the upstream.
func (p *pool) managed() int64 { return p.accounting.Managed() - p.guard.managed() }

// out counts the buffers that are out.
func (p *pool) out() handle.Tally {
	s := p.stats().bounded()
	return handle.Tally{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes}
}

// ResetPeaks sets Stats.PeakManagedBytes and Stats.PeakActiveBytes to the managed and active bytes of now.
// It does not change the peak of reserve=learned:FILE.
func (p *Pool) ResetPeaks() {
	q := p.opened()
	q.accounting.ResetPeak()
	q.peak.reset(q)
}
