package slab

import "sync/atomic"

// An activePeak knows the most active bytes, as seen by Gets that passed the caches: a hit must not count.
// To add up the counters of all processors takes some microseconds, and takes their lines from their caches. So
// such Gets look only when they have asked for a share of the peak since the last look, and for as much as was
// missing from the peak then.
type activePeak struct {
	left   atomic.Int64 // bytes of Gets that pass the caches until one looks
	most   atomic.Int64 // since next was called
	before atomic.Int64 // until then
	skips  atomic.Int64 // Gets of the last size that need not look: doubles while looks find no more
	enough int64        // bytes of Gets that are worth a look
}

const (
	// peakShare is the share of the peak at which to look again.
	peakShare = 64
	// mostSkips bounds skips. Without skips a program with one buffer after the other would look each time.
	mostSkips = 127
	// Skips never cover more than processorBytes a processor, so that the peak of a few large buffers, often one
	// moment in thousands of Gets, is seen. To touch that many bytes takes some fifty times as long as a look takes
	// for a processor.
	processorBytes = 512 << 10
)

func (a *activePeak) open(processors int) { a.enough = int64(processors) * processorBytes }

// look takes n, the active bytes, in after a Get of size bytes.
func (a *activePeak) look(n int64, size int) {
	skips, most := int64(0), a.most.Load()
	if n > most {
		most = a.raise(n)
	} else {
		skips = min(2*a.skips.Load()+1, mostSkips)
	}
	a.skips.Store(skips)
	a.left.Store(max(most/peakShare, most-n, min(skips*int64(size), a.enough)))
}

func (a *activePeak) raise(n int64) (most int64) { return raise(&a.most, n) }

func raise(most *atomic.Int64, n int64) int64 {
	for {
		if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
			return max(n, m)
		}
	}
}

// all returns the peak, if n bytes are active now.
func (a *activePeak) all(n int64) int64 { return max(a.raise(n), a.before.Load()) }

// reset begins the peak anew, at the active bytes of now.
func (a *activePeak) reset(now int64) {
	a.before.Store(0)
	a.most.Store(now)
	a.left.Store(0)
}

// next returns the most active bytes since it was called last. It is called with those of now.
func (a *activePeak) next(now int64) int64 {
	for most := a.raise(now); ; most = a.most.Load() {
		if raise(&a.before, most); a.most.CompareAndSwap(most, now) { // in this order: the peak never falls
			a.left.Store(0)
			return most
		}
	}
}
