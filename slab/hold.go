package slab

import "errors"

// This file is what a pool does with memory that nobody uses: give it back
// when asked, when it is idle, and at the end.

// FreeHeld gives upstream all memory that is kept for reuse and can be given:
// what waits for a stream cannot. It does not wait itself.
func (p *Pool) FreeHeld() { p.c.freeHeld() }

// StopHolding is FreeHeld, and from now on released memory goes upstream as
// soon as nothing of its region is active. It waits for streams that use what
// has been released, and so does Release from now on. There is no way back.
func (p *Pool) StopHolding() { p.c.stopHolding() }

// Trim ends an epoch and gives upstream what has been held, untouched, for the
// last idle epochs; Trim(0) is FreeHeld. What lies in a cache goes to the
// strategy when it was untouched for an epoch, and its epochs begin to count
// then, and so does what has waited for a stream. It returns the bytes that went.
// Config.TrimAfter calls it by the clock.
func (p *Pool) Trim(idle int) int64 { return p.c.trim(idle, true) }

// Close stops holding, see StopHolding, and makes further Gets fail with ErrClosed. If buffers are
// still out it returns a *LeakError; they stay valid, and their memory goes
// upstream as they are released. Later calls return nil.
func (p *Pool) Close() error {
	k := p.c
	if k.closed.Swap(true) {
		return nil
	}
	k.trimmer.stop()
	k.stopHolding()
	for _, s := range sharersOf(k.upstream) {
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

// FreeHeld makes the core a [Reclaimer]. Whoever asks has no room, so this
// waits for streams.
func (k *core) FreeHeld() {
	for k.settleOne() {
	}
	k.freeHeld()
}

func (k *core) freeHeld() {
	k.giving.Lock()
	defer k.giving.Unlock()
	k.sweepGiving()
	k.drain(false)
	if h, ok := k.strategy.(Holder); ok {
		h.FreeHeld()
	}
}

// emptyCaches gives the caches back to the strategy, and what streams are done
// with, and reports whether there was anything.
func (k *core) emptyCaches() bool {
	k.giving.Lock()
	defer k.giving.Unlock()
	swept := k.sweepGiving()
	return k.drain(false) || swept
}

func (k *core) stopHolding() {
	k.giving.Lock()
	defer k.giving.Unlock()
	k.cache.stop()
	k.streams.stop()
	for k.settleGiving() {
	}
	k.drain(false)
	if h, ok := k.strategy.(Holder); ok {
		h.StopHolding()
	}
}

// trim is Trim. It says whether the pages of what goes are to go at once.
func (k *core) trim(idle int, discard bool) int64 {
	k.giving.Lock()
	defer k.giving.Unlock()
	k.ledger.discard.Store(discard)
	defer k.ledger.discard.Store(false)
	before := k.ledger.managed.Load() // draining sends memory upstream, too
	k.sweepGiving()
	k.drain(idle > 0)
	if t, ok := k.strategy.(Trimmer); ok {
		t.Trim(idle)
	}
	return max(0, before-k.ledger.managed.Load())
}
