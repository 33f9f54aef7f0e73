package slab

import (
	"time"

	"github.com/bufslab/bufslab/internal/ticker"
)

// A clock gives back, by time, what a pool has not needed: what was held untouched for
// Config.TrimAfter, and everything if the pool was not used for Config.Idle. Nothing is
// counted in collections: a program that makes much garbage would lose its pool.
type clock struct {
	timer *ticker.Ticker
	every time.Duration
	trim  int   // ticks that memory may be held untouched; 0 is for ever
	idle  int   // ticks that a pool may be idle; 0 is for ever
	now   int64 // nanoseconds, in a replay: when tick was due last

	// Only tick uses these, and one tick ends before the next one begins.
	traffic int64 // Gets and Releases up to the last tick
	quiet   int   // ticks since without any
}

// clockTicks is how often a clock ticks within the shorter of its two times.
const clockTicks = 4

// set sets the clock, which does not run yet. With sizeclass on the Go heap, where held
// memory makes collections rarer, what a pool in use does not touch goes back, too.
func (k *clock) set(c Config) {
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
}

func ticks(d, every time.Duration) int { return int((d + every - 1) / every) }

func (k *clock) start(p *pool) {
	if k.every == 0 {
		return
	}
	k.timer = ticker.Start(p, k.every, func(p *pool) bool {
		if p.closed.Load() {
			return false
		}
		p.clock.tick(p)
		return true
	})
}

// advance runs the ticks that are due in a replay, or as many as matter: after the longer
// of its two times the pool has nothing left to give.
func (p *pool) advance(now int64) {
	k := &p.clock
	due := (now - k.now) / int64(k.every)
	if due <= 0 {
		return
	}
	k.now += due * int64(k.every)
	for range min(due, int64(k.trim)+int64(k.idle)+2) {
		k.tick(p)
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
func (k *clock) tick(p *pool) {
	u := p.cache.Usage()
	idle := k.isIdle(u.Gets + u.Releases)
	switch {
	case p.stats().ManagedBytes == 0: // there is nothing to give
	case idle:
		p.trimHeld(0)
	case k.trim > 0:
		p.trimHeld(k.trim)
	}
}
