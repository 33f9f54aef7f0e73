// Package clock says when a pool has not needed what it holds.
//
//	clock.go   the ticks
//	minute.go  the most that was active in the last minute
package clock

import (
	"cmp"
	"math"
	"time"

	"github.com/bufslab/bufslab/internal/ticker"
)

// A Clock gives back, by time, what a pool has not needed: what was held untouched for a while, and
// everything if the pool was not used for a while. Nothing is counted in collections: a program that
// makes much garbage would lose its pool. The zero Clock never ticks.
type Clock struct {
	options Options
	timer   *ticker.Ticker // nil until it runs
	every   time.Duration
	trim    int   // ticks that memory may be held untouched; 0 is for ever
	idle    int   // ticks that a pool may be idle; 0 is for ever
	now     int64 // nanoseconds, in a replay: when tick was due last

	// Only tick uses these, and one tick ends before the next one begins.
	traffic int64 // Gets and Releases up to the last tick
	quiet   int   // ticks since without any
	lately  minute
}

// Options are the times of a Clock, of which 0 is never, and what it asks and tells its pool.
type Options struct {
	Trim time.Duration // what was held untouched for so long goes back
	Idle time.Duration // all goes back from a pool that was not used for so long

	Usage   func() (calls, managed int64) // the calls of the pool so far, and the bytes that it has now
	Release func(idle int)                // gives back what was held untouched for so many ticks

	// Peak returns the most bytes that were active since it was called last. Keep is told, at each tick, the
	// most of the last minute. Both are nil where the pool does not ask.
	Peak func() int64
	Keep func(most int64)
}

// clockTicks is how often a clock ticks within the shorter of its two times.
const clockTicks = 4

// Set sets the options. The Clock does not run yet.
func (k *Clock) Set(o Options) {
	k.options = o
	shorter := min(o.Trim, o.Idle)
	if shorter == 0 {
		shorter = max(o.Trim, o.Idle)
	}
	if shorter > 0 {
		k.every = max(shorter/clockTicks, 1)
	}
	if o.Keep != nil {
		k.every = min(cmp.Or(k.every, bucket), bucket)
		k.lately.ticks = ticks(bucket, k.every)
	}
	if k.Ticks() {
		k.trim, k.idle = ticks(o.Trim, k.every), ticks(o.Idle, k.every)
	}
}

// Ticks reports whether the Clock has anything to do.
func (k *Clock) Ticks() bool { return k.every > 0 }

// Start has the Clock of owner tick until owner is forgotten or open reports false. It keeps no owner alive.
func Start[T any](k *Clock, owner *T, of func(*T) *Clock, open func(*T) bool) {
	if !k.Ticks() {
		return
	}
	k.timer = ticker.Start(owner, k.every, func(o *T) bool {
		if !open(o) {
			return false
		}
		of(o).tick()
		return true
	})
}

// Stop ends the ticks.
func (k *Clock) Stop() { k.timer.Stop() }

func ticks(d, every time.Duration) int { return int((d + every - 1) / every) }

// Advance runs the ticks that are due in a replay, or as many as matter: after its times the
// pool has nothing left to give.
func (k *Clock) Advance(now int64) {
	due := (now - k.now) / int64(k.every)
	if due <= 0 {
		return
	}
	k.now += due * int64(k.every)
	minute := int64(k.lately.length())
	for i := range min(due, int64(k.trim)+int64(k.idle)+minute+2) {
		if idle := k.tick(); idle && i > minute {
			return
		}
	}
}

// isIdle reports, once a tick, whether the pool was not used for its idle time.
func (k *Clock) isIdle(traffic int64) bool {
	if traffic != k.traffic {
		k.traffic, k.quiet = traffic, 0
		return false
	}
	k.quiet++
	return k.idle > 0 && k.quiet >= k.idle
}

// tick ends an epoch of what a pool holds. It reports whether the pool is idle, and so holds nothing from then on.
func (k *Clock) tick() (idle bool) {
	calls, managed := k.options.Usage()
	idle = k.isIdle(calls)
	switch {
	case managed == 0: // there is nothing to give
	case idle:
		k.options.Release(0)
	default:
		k.options.Release(cmp.Or(k.trim, math.MaxInt))
	}
	if k.options.Keep != nil {
		k.options.Keep(k.lately.tick(k.options.Peak()))
	}
	return idle
}
