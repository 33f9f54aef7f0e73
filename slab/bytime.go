package slab

import "github.com/bufslab/bufslab/slab/internal/clock"

// By time a pool gives back what the program did not ask for again: on every device, with every strategy, and
// while the pool is in use. On the Go heap held memory makes collections rarer, off it others could use it.

func (p *pool) setClock(c Config) {
	o := clock.Options{
		Trim: max(0, c.TrimAfter), Idle: max(0, c.Idle),
		Usage: p.usage, Release: func(idle int) { p.trimHeld(idle) },
	}
	if c.HeldShare > 0 {
		o.Peak, o.Keep = p.nextPeak, p.keepShare
	}
	p.clock.Set(o)
}

func (p *pool) startClock() { clock.Start(&p.clock, p, (*pool).ownClock, (*pool).isOpen) }

func (r *room) ownClock() *clock.Clock { return &r.clock }

// usage is the clock's: the calls so far, and the bytes from upstream.
func (p *pool) usage() (calls, managed int64) { return p.calls(), p.stats().ManagedBytes }

// keepShare gives back what is held beyond Config.HeldShare of most, the most bytes that were active in the last
// minute. The caches are emptied for it. Between two ticks of the clock more may be held.
func (p *pool) keepShare(most int64) {
	over := p.stats().HeldBytes - int64(p.config.HeldShare*float64(most))
	if over <= 0 {
		return
	}
	before := p.stats().ManagedBytes
	p.reclaimMu.Lock()
	p.shrinkLocked(over)
	p.trimmed(max(0, before-p.stats().ManagedBytes))
}
