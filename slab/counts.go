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
	p.countCalls(&s, after.Served)
	p.countEvents(&s)
	s.Collections = p.gc.Ran()
	p.countOverflow(&s)
	return s
}

// countMemory says what the pool has from its upstream, and then what of it the strategy holds: what goes upstream in
// between is rounding, and no debt.
func (l *layers) countMemory(s *Stats) Usage {
	drawn := l.accounting.Drawn()
	below := keptBelow(l.upstream)
	s.ManagedBytes, s.MaxBytes = l.accounting.Managed(), l.maxBytes()
	below.HeldBytes = max(0, below.HeldBytes-(l.accounting.Drawn()-drawn)) // the pool has that by now
	s.ManagedBytes += below.ManagedBytes()
	l.accounting.RaisePeak(s.ManagedBytes) // nobody tells of what lies below
	s.PeakManagedBytes = max(l.accounting.Peak(), s.ManagedBytes)

	u, withheld := usageOf(l.strategy, 0), l.guard.Usage().Withheld
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
func (l *lending) countOut(s *Stats, before, after percpu.Served) {
	for looks := 1; ; looks++ {
		blocks, bytes := percpu.Out(before, after)
		forgotten, _, _ := l.leaks.Counts()
		blocks, bytes = blocks-forgotten.Blocks, bytes-forgotten.Bytes
		if looks == 1 || bytes > s.ActiveBytes {
			s.ActiveBlocks, s.ActiveBytes = blocks, bytes
		}
		if looks == mostLooks || after.Released-before.Released <= s.ActiveBytes/enoughShare {
			break
		}
		before, after = after, l.cache.Served()
	}
	s.PeakActiveBytes = l.peak.all(s.ActiveBytes)
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

// countCalls adds the counts of what owners have done, which only grow.
func (l *lending) countCalls(s *Stats, n percpu.Served) {
	s.Hits, s.Misses, s.AllocatedBytes = n.Hits, n.Misses, n.Got
	forgotten, _, parts := l.leaks.Counts()
	s.Forgotten = forgotten.Blocks + parts
	s.DoubleReleases, s.ForeignPuts = l.leaks.Misuse()
}

// countEvents adds the other counts that only grow, and who waits.
func (r *room) countEvents(s *Stats) {
	s.UpstreamAllocs, s.UpstreamFrees = r.accounting.Allocs(), r.accounting.Frees()
	s.Guarded, s.GuardFaults = r.guard.counts()
	s.Failed = r.counted.failed.Load()
	s.Trims, s.TrimmedBytes = r.counted.trims.Load(), r.counted.trimmed.Load()
	s.PressureSteps, s.PressureBytes = r.counted.steps.Load(), r.counted.relieved.Load()
	s.Waiters, s.Waits, s.WaitTime = r.waits.now.Load(), r.waits.calls.Load(), time.Duration(r.waits.nanoseconds.Load())
}

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
	q.resetPeak()
}

// countOverflow counts the buffers of plain memory that are out.
func (p *pool) countOverflow(s *Stats) {
	if over := p.over.Load(); over != nil {
		out := over.stats().bounded()
		s.OverflowBlocks, s.OverflowBytes = out.ActiveBlocks, out.ActiveBytes
		s.Forgotten, s.DoubleReleases = s.Forgotten+out.Forgotten, s.DoubleReleases+out.DoubleReleases
	}
}
