package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/canary"
)

// A canaried is the strategy of a pool with Config.Check.
type canaried struct {
	forward
	*canary.Check
	strategy Allocator
}

// openCheck puts a Check before the strategy. Strategies that are not our own may keep links in free
// blocks.
func (l *layers) openCheck(c Config, own bool) {
	l.check = canary.New(l.strategy, max(c.Align, c.traits.Align), c.log)
	if own {
		l.check.LookAgain()
		l.accounting.OnLeave(l.check.Leave)
	}
	l.strategy = canaried{forwardTo(l.strategy), l.check, l.strategy}
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

func (l *layers) checkError() error {
	if f := l.check.Faults(); f != nil {
		return &CheckError{f}
	}
	return nil
}
