package slab

import (
	"errors"
	"runtime"

	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// Close has keepers of its buffers release what is idle, stops holding, see StopHolding, and makes further Gets fail
// with ErrClosed. If buffers are still active the error wraps a *LeakError; these buffers stay valid, and their
// memory goes upstream as they are released. The error wraps each *[GuardError] of a write, too.
// Later calls return nil.
//
// Close also logs the LeakError, at Warn, as a deferred Close drops its error: Config.Logger can be told to drop it.
// What guard and check have found is logged when Close returns.
// Buffers that growpool has left to the collector are no leaks.
//
// The device of a pool of [OpenConfig] is closed when no buffer is active: by Close, by the last
// Release after Close, or when the last buffer is found forgotten. Until then the device copies,
// and its streams work. If the device fails to close after Close, the error goes to Config.Logger.
func (p *Pool) Close() (err error) {
	if !p.isOpened() {
		return errNotOpened
	}
	defer runtime.KeepAlive(p) // it is not abandoned meanwhile
	err = p.pool.close()
	p.pool.guard.log.Flush() // the program may end now
	p.pool.check.Flush()
	if leak := (*LeakError)(nil); errors.As(err, &leak) && !p.pool.config.replayed() {
		p.pool.config.log().Warn(leak.Error())
	}
	return err
}

func init() {
	inside.Close = func(p any) error {
		defer runtime.KeepAlive(p)
		return p.(*Pool).opened().close()
	}
	inside.Place = watch.PlaceOf
	inside.Left = func(p any) *inside.Tally { return &p.(*Pool).opened().left }
}

func (p *pool) close() (err error) {
	if p.closed.Swap(true) {
		return nil
	}
	p.WakeAll() // they see that the pool is closed
	p.clock.Stop()
	defer func() { err = p.end() }() // also if the upstream panics
	p.reclaimers.Reclaim()
	p.stopHolding(below(p.upstream).FreeHeld)
	return nil
}

// end is the rest of Close once the pool holds nothing.
func (p *pool) end() error {
	p.leaveBudgets(p)
	p.table.EndReferences()
	errs := []error{p.leakError(p.stats().bounded()), p.checkError(), p.guard.err()}
	if over := p.over.Load(); over != nil {
		errs = append(errs, over.close())
	}
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

func (p *pool) leakError(s Stats) error {
	out := handle.Tally{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes}
	e := &LeakError{Leaks: p.listLeaks(out), Pool: p.config.Name, forgotten: s.Forgotten, keepers: p.reclaimers.Len()}
	e.leftBlocks, e.leftBytes = p.left.Blocks.Load(), p.left.Bytes.Load()
	e.Blocks, e.Bytes = s.ActiveBlocks-e.leftBlocks, max(0, s.ActiveBytes-e.leftBytes)
	if e.Blocks <= 0 {
		return nil
	}
	return e
}

// abandon closes a pool whose user has forgotten it, except for Grow of active buffers. It may wait for
// a stream, and the runtime's goroutine for cleanups must not.
func (p *pool) abandon() {
	if p.closed.Load() {
		return
	}
	p.abandoned.Store(true)
	if over := p.over.Load(); over != nil {
		over.abandoned.Store(true)
	}
	go func() { _ = p.close() }() // its leaks are reported to nobody
}
