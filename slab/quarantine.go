package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A block off the heap that was forgotten while a slice of it may be in use must never
// be handed out again. Its strategy takes it out of use for good: its pages go back, and
// out of every budget; who still uses the slice faults; the addresses stay taken.

// A quarantiner is a strategy that can do so.
type quarantiner interface {
	// Quarantine takes a block that is out, of an extent as FreeExtent has it, out of
	// use for good. Where it cannot it reports false, and the block stays out.
	Quarantine(b device.Block, extent int32) bool
}

var (
	_ quarantiner = builtin{}
	_ quarantiner = (*Check)(nil)
)

// quarantine gives up a block that has no slot any more. Under a strategy that cannot it
// stays out and in the budget, but its pages go back.
func (p *pool) quarantine(a handle.Allocation) {
	if q, ok := p.strategy.(quarantiner); ok && q.Quarantine(a.Block, a.Extent) {
		p.leaks.tookOver(a.Block.Len)
		return
	}
	if r, ok := a.Block.Region.(device.Quarantiner); ok {
		_ = r.Quarantine(a.Block.Off, a.Block.Len) // if it fails the pages stay: a cost, not a fault
	}
}

// Quarantine reports a dead canary, and takes the block out of use for good with what is
// around it.
func (c *Check) Quarantine(b device.Block, _ int32) bool {
	q, ok := c.upstream.(quarantiner)
	if !ok {
		return false
	}
	k, ok := c.take(b)
	if !ok {
		return false
	}
	if fault := k.fault(); fault != "" {
		c.report(fault)
	}
	if !q.Quarantine(k.outer, 0) {
		c.enter(k)
		return false
	}
	return true
}
