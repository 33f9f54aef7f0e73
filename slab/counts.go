package slab

import (
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/percpu"
)

// Stats returns the counters, added up over the processors.
func (p *Pool) Stats() Stats { return p.opened().stats().withoutDebts() }

// stats is Stats before withoutDebts: tests, and code that computes with it, need negative numbers.
func (p *pool) stats() Stats {
	var s Stats
	up := p.accounting
	u := usageOf(p.strategy, p.managed()) // first: a block that reaches the strategy meanwhile is not counted twice
	p.guard.count(&s, &u)
	cached := p.cache.Usage()
	deferred, waiting := p.table.Deferred(), p.pending.Waiting()
	forgotten, quarantined, parts := p.leaks.Counts()

	out := active(cached, forgotten)
	s.ActiveBlocks, s.ActiveBytes = out.Blocks, out.Bytes
	s.PeakActiveBytes = p.peak.all(p.activeBytes())
	s.Forgotten = forgotten.Blocks + parts
	s.DoubleReleases, s.ForeignPuts = p.leaks.Misuse()
	s.Failed, s.Collections = p.counted.failed.Load(), p.gc.Ran()
	s.Trims, s.TrimmedBytes = p.counted.trims.Load(), p.counted.trimmed.Load()
	s.PressureSteps, s.PressureBytes = p.counted.steps.Load(), p.counted.relieved.Load()
	s.UpstreamAllocs, s.UpstreamFrees = up.Allocs(), up.Frees()
	s.Misses = min(s.UpstreamAllocs, cached.Gets)
	s.Hits = cached.Gets - s.Misses
	s.AllocatedBytes = cached.Got
	s.ManagedBytes, s.MaxBytes = u.ManagedBytes(), p.config.MaxBytes

	s.WaitingBlocks, s.WaitingBytes = waiting.Blocks, waiting.Bytes
	s.HeldBlocks = u.HeldBlocks + cached.Blocks + deferred.Blocks + waiting.Blocks
	s.HeldBytes = u.HeldBytes + cached.Bytes + deferred.Bytes + waiting.Bytes
	s.UnusableBytes = u.UnusableBytes + quarantined.Bytes
	below := keptBelow(p.upstream)
	p.countBelow(&s, below)
	s.Waiters, s.Waits, s.WaitTime = p.waits.now.Load(), p.waits.calls.Load(), time.Duration(p.waits.nanoseconds.Load())
	// All bytes that the strategy has handed out are active, cached, deferred, waiting or in
	// quarantine; the rest is rounding.
	s.RoundingBytes = u.ActiveBytes + u.RoundingBytes - s.ActiveBytes - cached.Bytes - deferred.Bytes - waiting.Bytes - quarantined.Bytes + below.RoundingBytes
	return s
}

// countBelow adds the held memory of a strategy below. Only Stats reads it, so Stats raises the peak.
func (p *pool) countBelow(s *Stats, below Usage) {
	s.HeldBlocks += below.HeldBlocks
	s.HeldBytes += below.HeldBytes
	s.UnusableBytes += below.UnusableBytes
	if more := below.ManagedBytes(); more > 0 {
		s.ManagedBytes += more
		p.accounting.RaisePeak(s.ManagedBytes)
	}
	s.PeakManagedBytes = max(p.accounting.Peak(), s.ManagedBytes)
}

// active counts the buffers that were got and neither released nor found forgotten.
func active(u percpu.Usage, forgotten handle.Tally) handle.Tally {
	return handle.Tally{Blocks: u.Gets - u.Releases - forgotten.Blocks, Bytes: u.Got - u.Released - forgotten.Bytes}
}

// managed returns the bytes that the strategy has from the upstream.
func (p *pool) managed() int64 { return p.accounting.Managed() - p.guard.managed() }

// ResetPeaks sets Stats.PeakManagedBytes and Stats.PeakActiveBytes to the managed and active bytes of now.
// It does not change the peak of reserve=learned:FILE.
func (p *Pool) ResetPeaks() {
	q := p.opened()
	q.accounting.ResetPeak()
	q.peak.reset(q)
}
