package slab

import (
	"time"

	"github.com/bufslab/bufslab/internal/ticker"
)

// A clock gives back, by time, what a pool has not needed: what was held untouched for
// Config.TrimAfter, and everything if the pool was not used for Config.Idle. Nothing is
// counted in collections: a program that makes much garbage would lose its pool.
type clock struct {
	timer *ticker.Ticker // nil until it runs
	every time.Duration
	trim  int   // ticks that memory may be held untouched; 0 is for ever
	idle  int   // ticks that a pool may be idle; 0 is for ever
	now   int64 // nanoseconds, in a replay: when tick was due last

	usage   func() (calls, managed int64) // Gets and Releases so far; bytes now
	release func(idle int)                // gives back what was held untouched for so many ticks

	// Only tick uses these, and one tick ends before the next one begins.
	traffic int64 // Gets and Releases up to the last tick
	quiet   int   // ticks since without any
}

// clockTicks is how often a clock ticks within the shorter of its two times.
const clockTicks = 4

// newClock returns a clock that does not run yet. With sizeclass on the Go heap, where held
// memory makes collections rarer, what a pool in use does not touch goes back, too.
func newClock(c Config) (k clock) {
	trim, idle := max(0, c.TrimAfter), max(0, c.Idle)
	if trim == 0 && c.Strategy == "sizeclass" && onHeap(c) {
		trim = idle
	}
	shorter := min(trim, idle)
	if shorter == 0 {
		shorter = max(trim, idle)
	}
	if shorter > 0 {
		k.every = max(shorter/clockTicks, 1)
		k.trim, k.idle = ticks(trim, k.every), ticks(idle, k.every)
	}
	return k
}

func ticks(d, every time.Duration) int { return int((d + every - 1) / every) }

// advance runs the ticks that are due in a replay, or as many as matter: after the longer
// of its two times the pool has nothing left to give.
func (k *clock) advance(now int64) {
	due := (now - k.now) / int64(k.every)
	if due <= 0 {
		return
	}
	k.now += due * int64(k.every)
	for range min(due, int64(k.trim)+int64(k.idle)+2) {
		k.tick()
	}
}

// isIdle reports, once a tick, whether the pool was not used for its idle time.
func (k *clock) isIdle(traffic int64) bool {
	if traffic != k.traffic {
		k.traffic, k.quiet = traffic, 0
		return false
	}
	k.quiet++
	return k.idle > 0 && k.quiet >= k.idle
}

// tick ends an epoch of what a pool holds.
func (k *clock) tick() {
	calls, managed := k.usage()
	idle := k.isIdle(calls)
	switch {
	case managed == 0: // there is nothing to give
	case idle:
		k.release(0)
	case k.trim > 0:
		k.release(k.trim)
	}
}
