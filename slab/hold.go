package slab

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"weak"
)

// This file is what a pool does with memory that nobody uses: give it back
// when asked, when it is idle, and at the end.

// FreeHeld gives upstream all memory that is kept for reuse and can be given.
func (p *Pool) FreeHeld() { p.c.freeHeld() }

// StopHolding is FreeHeld, and from now on released memory goes upstream as
// soon as nothing of its region is active. There is no way back.
func (p *Pool) StopHolding() { p.c.stopHolding() }

// Trim ends an epoch and gives upstream what has been held, untouched, for the
// last idle epochs; Trim(0) is FreeHeld. It returns the bytes that went.
// Config.TrimAfter calls it by the clock.
func (p *Pool) Trim(idle int) int64 { return p.c.trim(idle) }

// Close stops holding and makes further Gets fail with ErrClosed. If buffers are
// still out it returns a *LeakError; they stay valid, and their memory goes
// upstream as they are released. Later calls return nil.
func (p *Pool) Close() error {
	k := p.c
	if k.closed.Swap(true) {
		return nil
	}
	k.trimmer.stop()
	k.stopHolding()
	if s, ok := k.upstream.(sharer); ok {
		s.Unshare(k)
	}
	errs := []error{k.leakError()}
	for _, f := range k.onClose {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// abandon closes a pool whose user has forgotten it.
func (k *core) abandon() { (&Pool{k}).Close() }

// FreeHeld makes the core a [Reclaimer].
func (k *core) FreeHeld() { k.freeHeld() }

func (k *core) freeHeld() {
	k.drain(false)
	if h, ok := k.strategy.(Holder); ok {
		h.FreeHeld()
	}
}

func (k *core) stopHolding() {
	for i := range k.cache.shards {
		k.cache.shards[i].close()
	}
	k.drain(false)
	if h, ok := k.strategy.(Holder); ok {
		h.StopHolding()
	}
}

func (k *core) trim(idle int) int64 {
	before := k.ledger.managed.Load() // draining sends memory upstream, too
	k.drain(idle > 0)
	if t, ok := k.strategy.(Trimmer); ok {
		t.Trim(idle)
	}
	return max(0, before-k.ledger.managed.Load())
}

// A LeakError says that a pool was closed while buffers were out.
type LeakError struct {
	Blocks, Bytes int64  // active, bytes as asked for
	Leaks         []Leak // with Config.Check, Strict or OnForget=report
}

// A Leak is a buffer that was not released.
type Leak struct {
	Bytes     int
	Site      string // file:line of the Get
	Forgotten bool   // the collector has found it
}

func (e *LeakError) Error() string {
	s := fmt.Sprintf("slab: pool closed with %d buffers of %d bytes out", e.Blocks, e.Bytes)
	for _, l := range e.Leaks {
		s += fmt.Sprintf("\n\t%d bytes got at %s", l.Bytes, l.Site)
	}
	return s
}

func (k *core) leakError() error {
	s := k.stats()
	if s.ActiveBlocks == 0 {
		return nil
	}
	return &LeakError{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes, Leaks: k.leaks()}
}

// A trimmer calls Trim by the clock, four times within the idle time.
type trimmer struct{ timer atomic.Pointer[time.Timer] }

const trimTicks = 4

// start lets the clock know the pool weakly, so that it can be forgotten.
func (t *trimmer) start(k *core) {
	every := k.config.TrimAfter / trimTicks
	if every <= 0 {
		return
	}
	w := weak.Make(k)
	t.timer.Store(time.AfterFunc(every, func() {
		if k := w.Value(); k != nil && !k.closed.Load() {
			k.trim(trimTicks)
			k.trimmer.timer.Load().Reset(every)
		}
	}))
}

func (t *trimmer) stop() {
	if timer := t.timer.Load(); timer != nil {
		timer.Stop()
	}
}

// A valve runs the collector when memory that it does not see, but whose
// handles it does, has grown by limit bytes without being released, or by half
// if that is more: forgotten buffers off the heap do not drive it themselves.
type valve struct {
	limit int64
	out   atomic.Int64 // bytes of blocks that have a token
	base  atomic.Int64 // of out, after the last collection or since, if less
}

func (v *valve) check(k *core) {
	if v.limit <= 0 {
		return
	}
	out, base := v.out.Load(), v.base.Load()
	if out < base {
		v.base.Store(out)
	}
	if out-base > max(v.limit, base/2) {
		runtime.GC()
		k.awaitForgotten()
		v.base.Store(v.out.Load())
	}
}

// awaitForgotten lets finalizers that the collector found due run first. How
// many there are nobody tells, so it goes on once none has run for a while: a
// fraction of what the collection has taken.
func (k *core) awaitForgotten() {
	const while = 1000
	for last, still := int64(-1), 0; still < while; still++ {
		k.mu.Lock()
		n := k.forgotten.blocks
		k.mu.Unlock()
		if n != last {
			last, still = n, 0
		}
		runtime.Gosched()
	}
}
