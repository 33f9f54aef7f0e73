package slab

import (
	"errors"
	"runtime"

	"github.com/bufslab/bufslab/slab/internal/budget"
)

// Close stops holding, see StopHolding, and makes further Gets fail with ErrClosed. If
// buffers are still active the error wraps a *LeakError; these buffers stay valid, and their
// memory goes upstream as they are released. The error wraps each *[GuardError] of a write, too.
// Later calls return nil.
//
// The device of a pool of [OpenConfig] is closed when no buffer is active: by Close, by the last
// Release after Close, or when the last buffer is found forgotten. Until then the device copies,
// and its streams work. If the device fails to close after Close, the error goes to Config.Logger.
func (p *Pool) Close() (err error) {
	if !p.isOpened() {
		return errNotOpened
	}
	defer runtime.KeepAlive(p) // it is not abandoned meanwhile
	return p.pool.close()
}

func (p *pool) close() (err error) {
	if p.closed.Swap(true) {
		return nil
	}
	p.endWaits()
	p.clock.Stop()
	defer func() { err = p.end() }() // also if the upstream panics
	p.stopHolding(below(p.upstream).FreeHeld)
	return nil
}

// end is the rest of Close once the pool holds nothing.
func (p *pool) end() error {
	p.leaveBudgets()
	p.table.EndReferences()
	errs := []error{p.leakError(p.stats()), p.checkError(), p.guard.err()}
	for _, f := range p.onClose {
		errs = append(errs, f())
	}
	p.ended.Store(true) // first: memory that comes back after the look below closes the device itself
	return errors.Join(append(errs, p.closeIdleDevice())...)
}

// closeIdleDevice closes the device once, if no block of it is active.
func (p *pool) closeIdleDevice() error {
	if !p.table.IsVacant() || p.deviceClosed.Swap(true) {
		return nil
	}
	return p.config.closeDevice()
}

// closeDeviceLate is closeIdleDevice for blocks that come back after Close.
func (p *pool) closeDeviceLate() {
	if !p.ended.Load() {
		return
	}
	if err := p.closeIdleDevice(); err != nil {
		p.config.log().Error("slab: the device was closed after the last buffer: " + err.Error())
	}
}

// endWaits has calls that wait see that the pool is closed.
func (p *pool) endWaits() {
	for _, b := range p.budgets {
		b.Queue.WakeAll()
	}
}

// leaveBudgets undoes enterBudgets.
func (p *pool) leaveBudgets() {
	for _, b := range p.budgets {
		b.Unshare(p)
	}
	budget.UnshareDevice(deviceOf(p.upstream), p)
}

func (p *pool) leakError(s Stats) error {
	if s.ActiveBlocks == 0 {
		return nil
	}
	return &LeakError{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes, Leaks: p.listLeaks(), Pool: p.config.Name}
}

// abandon closes a pool whose user has forgotten it, except for Grow of active buffers. It may wait for
// a stream, and the runtime's goroutine for cleanups must not.
func (p *pool) abandon() {
	if p.closed.Load() {
		return
	}
	p.abandoned.Store(true)
	go func() { _ = p.close() }() // its leaks are reported to nobody
}

// refuses reports whether the pool hands out no more memory. A forgotten pool still serves Grow.
func (p *pool) refuses() bool { return p.closed.Load() && !p.abandoned.Load() }
