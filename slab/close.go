package slab

import (
	"errors"

	"github.com/bufslab/bufslab/slab/internal/budget"
)

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
	q.clock.Stop()
	defer func() { err = q.end() }() // also if the upstream panics
	q.stopHolding(below(q.upstream).FreeHeld)
	return nil
}

// end is what is left of Close once the pool holds nothing.
func (p *pool) end() error {
	p.leaveBudgets()
	p.table.EndReferences()
	errs := []error{p.leakError(p.stats()), p.checkError(), p.guard.err()}
	for _, f := range p.onClose {
		errs = append(errs, f())
	}
	return errors.Join(append(errs, p.config.closeDevice())...)
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

// abandon closes a pool whose user has forgotten it. It may wait for a stream, and the
// runtime's goroutine for cleanups must not.
func (p *pool) abandon() {
	go func() { _ = (&Pool{p}).Close() }() // no one is left to hear of its leaks
}
