package slab

import "sync/atomic"

// An activePeak knows the most bytes that were out, as Gets have seen that passed the caches: a hit must
// not count. Such Gets look when they have asked for a share of the peak since the last look, as to
// add up the counters of all processors takes some microseconds.
type activePeak struct {
	passed atomic.Int64 // bytes of Gets that passed the caches
	due    atomic.Int64 // when passed is as much, look
	most   atomic.Int64
}

// peakShare is the share of the peak at which to look again.
const peakShare = 64

// note notes a Get of size bytes that passed the caches.
func (a *activePeak) note(p *pool, size int) {
	if a.passed.Add(int64(size)) >= a.due.Load() {
		a.look(p)
	}
}

// look adds up what is out.
func (a *activePeak) look(p *pool) {
	a.raise(p.activeBytes())
	a.due.Store(a.passed.Load() + a.most.Load()/peakShare)
}

func (a *activePeak) raise(n int64) (most int64) {
	for {
		if most = a.most.Load(); n <= most || a.most.CompareAndSwap(most, n) {
			return max(n, most)
		}
	}
}

// reset begins the peak anew, at what is out now.
func (a *activePeak) reset(p *pool) {
	a.most.Store(max(0, p.activeBytes()))
	a.due.Store(0)
}

func (p *pool) activeBytes() int64 { return p.cache.OutBytes() - p.leaks.ForgottenBytes() }
