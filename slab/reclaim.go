package slab

import (
	"errors"

	"github.com/bufslab/bufslab/slab/internal/pending"
)

// What a pool does with memory that is not in use: it gives it back when asked, when
// it has been idle, and at the end.

// FreeHeld gives upstream all memory that is kept for reuse and can be given. What
// waits for a stream cannot, and FreeHeld does not wait for it. If the upstream is a
// [Holder], a strategy that the pool was opened on, it gives back, too; so it does for
// Trim, StopHolding and Close, which leaves it holding for others.
func (p *Pool) FreeHeld() { p.opened().freeHeld() }

// StopHolding is FreeHeld, and from now on released memory goes upstream as soon as
// nothing of its region is active. It waits for streams that use what has been
// released, and so does Release from now on. There is no way back.
func (p *Pool) StopHolding() {
	q := p.opened()
	q.stopHolding(below(q.upstream).StopHolding)
}

// Trim ends an epoch and gives upstream what has been held, untouched, for the last
// idle epochs. Trim(0), and Trim of less, is FreeHeld. A cached block goes to the
// strategy when it was untouched for an epoch, and its epochs begin to count then; so do
// those of a block that has waited for a stream. Trim returns the bytes that went upstream.
// Config.TrimAfter calls it by the clock.
//
// Beside a load that goes on, what it needs stays. Of the blocks of one size that a processor
// has cached, some are not reached in an epoch: half of these go, at least. Of memory that grows
// in a range, as bestfit and slab have it on mmap and virtual, all goes that is more than was in
// use at a time, every idle epochs. Other regions that are used in part stay whole.
func (p *Pool) Trim(idle int) int64 { return p.opened().trimHeld(max(idle, 0)) }

// Close stops holding, see StopHolding, and makes further Gets fail with ErrClosed. If
// buffers are still out its error wraps a *LeakError; they stay valid, and their memory
// goes upstream as they are released. It wraps each *[GuardError] of a write, too. Later calls
// return nil.
func (p *Pool) Close() (err error) {
	if !p.isOpened() {
		return errNotOpened
	}
	q := p.pool
	if q.closed.Swap(true) {
		return nil
	}
	q.endWaits()
	q.clock.timer.Stop()
	defer func() { err = q.end() }() // also if the upstream panics
	q.stopHolding(below(q.upstream).FreeHeld)
	return nil
}

// end is what is left of Close once the pool holds nothing.
func (p *pool) end() error {
	p.leaveBudgets()
	errs := []error{p.leakError(p.stats()), p.check.err(), p.guard.err()}
	for _, f := range p.onClose {
		errs = append(errs, f())
	}
	return errors.Join(append(errs, p.config.closeDevice())...)
}

// Closed reports whether Close was called.
func (p *Pool) Closed() bool { return p.opened().closed.Load() }

// abandon closes a pool whose user has forgotten it. It may wait for a stream, and the
// runtime's goroutine for cleanups must not.
func (p *pool) abandon() {
	go func() { _ = (&Pool{p}).Close() }() // no one is left to hear of its leaks
}

// FreeHeld makes the pool a [Reclaimer]. The caller has no room, so this waits for
// streams, and asks those who keep buffers of the pool.
func (p *pool) FreeHeld() {
	p.reclaimers.Reclaim(nil)
	for p.freeOldest() {
	}
	p.freeHeld()
}

// GiveNow is FreeHeld without a wait for streams.
func (p *pool) GiveNow() {
	p.reclaimers.Reclaim(nil)
	p.freeHeld()
}

func (p *pool) freeHeld() {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	p.sweepLocked()
	p.emptyCachesLocked(false)
	p.guard.FreeHeld()
	forward{upstream: p.strategy}.FreeHeld()
	below(p.upstream).FreeHeld()
}

// stopHolding calls below at its end, for the upstream.
func (p *pool) stopHolding(below func()) {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	p.cache.Stop()
	p.pending.Stop()
	p.table.Stop()
	p.guard.Stop()
	for p.freeOldestLocked() {
	}
	p.emptyCachesLocked(false)
	forward{upstream: p.strategy}.StopHolding()
	below()
}

func (p *pool) trimHeld(idle int) int64 {
	n := p.trim(idle)
	p.counted.trims.Add(1)
	p.counted.trimmed.Add(n)
	p.config.Hooks.trimmed(p.config.Name, n)
	return n
}

func (p *pool) trim(idle int) int64 {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	before := p.stats().ManagedBytes // emptying the caches sends memory upstream, too
	p.sweepLocked()
	p.emptyCachesLocked(idle > 0)
	if idle == 0 {
		p.guard.FreeHeld()
	}
	forward{upstream: p.strategy}.Trim(idle)
	below(p.upstream).Trim(idle)
	return max(0, before-p.stats().ManagedBytes)
}

// emptyCaches gives the caches back to the strategy, and what streams are done with.
// It reports whether there was anything.
func (p *pool) emptyCaches() bool {
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	swept := p.sweepLocked()
	return p.emptyCachesLocked(false) || swept
}

// emptyCachesLocked empties the caches, or only what was not used since it was called
// last. It reports whether there was anything.
func (p *pool) emptyCachesLocked(idle bool) (any bool) {
	any = p.cache.Reclaim(idle)
	if idle && any && p.held.exceeded(p.strategy) {
		p.cache.Reclaim(false) // the rest may keep the slabs of these
	}
	return any
}

// How blocks that wait for streams come back. They are taken out of their queues under
// reclaimMu only, so that a Get which finds no room can tell that none is on its way.

// sweep gives back what has waited long enough. While another goroutine gives back it
// leaves that to the next call.
func (p *pool) sweep() {
	if p.pending.Len() > 0 {
		p.sweepNow()
	}
}

func (p *pool) sweepNow() {
	if p.reclaimMu.TryLock() {
		defer p.reclaimMu.Unlock()
		p.sweepLocked()
	}
}

// sweepLocked is sweep under reclaimMu. It reports whether there was anything.
func (p *pool) sweepLocked() (any bool) {
	for p.pending.Len() > 0 {
		b := p.pending.TakeDone()
		if b == nil {
			break
		}
		p.freePending(b)
		any = true
	}
	return any
}

// freeOldest waits for the block that has waited longest, and gives it back, unless
// another goroutine was faster. It reports false when there is none. It waits without
// reclaimMu: others need not wait for the stream.
func (p *pool) freeOldest() bool {
	b, sync := p.pending.Oldest()
	if b == nil {
		return false
	}
	sync()
	p.reclaimMu.Lock()
	defer p.reclaimMu.Unlock()
	if p.pending.TakeOldest(func(x *pending.Block) bool { return x == b }) != nil {
		p.freePending(b)
	}
	return true
}

// waitForStreams waits for streams, on a goroutine, as long as somebody waits for memory: who
// waits with a context must not wait for a stream that does not end.
func (p *pool) waitForStreams() {
	if p.pending.Len() == 0 || p.waits.streams.Swap(true) {
		return
	}
	go func() {
		for p.waits.hurried.Load() > 0 && p.freeOldest() {
		}
		p.waits.streams.Store(false)
		if p.waits.hurried.Load() > 0 {
			p.waitForStreams() // what came since the last look has seen a goroutine at work
		}
	}()
}

// freeOldestLocked is freeOldest under reclaimMu, for a pool that holds nothing any more.
func (p *pool) freeOldestLocked() bool {
	b := p.pending.TakeOldest(func(*pending.Block) bool { return true })
	if b == nil {
		return false
	}
	b.Sync()
	p.freePending(b)
	return true
}
