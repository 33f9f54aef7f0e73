package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/canary"
)

const maxFaults = canary.MaxFaults // of a guard, too

// A canaried is the strategy of a pool with Config.Check.
type canaried struct {
	forward
	*canary.Check
	strategy Allocator
}

// openCheck puts a Check before the strategy. Strategies that are not our own may keep links in free
// blocks.
func (p *pool) openCheck(c Config, own bool) {
	p.check = canary.New(p.strategy, max(c.Align, c.traits.Align), c.log)
	if own {
		p.check.LookAgain()
		p.accounting.OnLeave(p.check.Leave)
	}
	p.strategy = canaried{forwardTo(p.strategy), p.check, p.strategy}
}

// Usage is the strategy's, with canaries as rounding.
func (c canaried) Usage() Usage {
	u := c.forward.Usage()
	n := c.Canaries(u.ActiveBlocks)
	u.ActiveBytes -= n
	u.RoundingBytes += n
	return u
}

func (c canaried) Quarantine(b device.Block, _ int32) bool {
	q, ok := c.strategy.(quarantiner)
	return ok && c.TakeOut(b, func(outer device.Block) bool { return q.Quarantine(outer, 0) })
}

func (p *pool) checkError() error {
	if f := p.check.Faults(); f != nil {
		return &CheckError{f}
	}
	return nil
}
