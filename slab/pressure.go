package slab

import (
	"log/slog"
	"math"

	"github.com/bufslab/bufslab/slab/internal/relief"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A pool with Config.Pressure gives back held memory when the system runs short: see slab/internal/relief.

// A pressed is a pool as the watcher sees it.
type pressed struct{ *pool }

var _ relief.Member = pressed{}

// watchPressure has the watcher ask p, until it is closed.
func watchPressure(p *pool) {
	if p.config.Pressure {
		relief.Join(pressed{p})
		p.onClose = append(p.onClose, func() error { relief.Leave(pressed{p}); return nil })
	}
}

// Calls returns the Gets and Releases so far.
func (p pressed) Calls() int64 { return p.calls() }

// HeldBytes returns the held bytes of the pool.
func (p pressed) HeldBytes() int64 { return p.stats().bounded().HeldBytes }

// GiveBack gives back about n bytes. What went back counts as a step, also if keepers had it. If another
// goroutine holds reclaimMu, to empty the caches or to wait for a stream, GiveBack only asks keepers.
func (p pressed) GiveBack(n int64, keepers bool, why string) int64 {
	before := p.stats().ManagedBytes
	if keepers {
		p.reclaimers.Reclaim()
		n = math.MaxInt64
	}
	if p.reclaimMu.TryLock() {
		p.shrinkLocked(n)
	}
	bytes := max(0, before-p.stats().ManagedBytes)
	p.relieved(bytes, why)
	return bytes
}

// shrinkLocked gives back about n bytes, and unlocks reclaimMu.
func (p *pool) shrinkLocked(n int64) {
	defer p.reclaimMu.Unlock()
	before := p.stats().ManagedBytes
	p.sweepLocked()
	p.emptyCachesLocked(false)
	p.guard.FreeHeld()
	upstream.Shrink(p.unwrapped, n)
	if n -= before - p.stats().ManagedBytes; n > 0 {
		below(p.upstream).FreeHeld()
	}
}

// Age ends an epoch of held memory, unless the pool's clock does, or another goroutine holds reclaimMu, as a
// StopHolding does that waits for a stream.
func (p pressed) Age() {
	if !p.clock.Ticks() && p.reclaimMu.TryLock() {
		defer p.reclaimMu.Unlock()
		p.trimLocked(math.MaxInt)
	}
}

// LimitChanged makes a bound that is a share one of what the device has by now, unless SetMaxBytes was called.
func (p pressed) LimitChanged() {
	share := p.config.given.MaxShare
	if share == 0 || p.resized.Load() {
		return
	}
	s, err := shareOf(p.config.on, share)
	if err == nil {
		err = p.setMaxBytes(s.bytes)
	}
	if err != nil {
		p.config.log().Error("slab: max_bytes stays, though a limit has changed", "error", err)
		return
	}
	p.config.log().Warn("slab: max_bytes is now "+s.source, "bytes", s.bytes)
}

// Log returns where the pool logs.
func (p pressed) Log() *slog.Logger { return p.config.log() }

// OnGoHeap reports whether memory that goes back is left to the collector.
func (p pressed) OnGoHeap() bool { return onHeap(p.config.Config) }
