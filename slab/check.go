package slab

import (
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/canary"
)

// A CheckError lists what Config.Check found where no caller could be told, up to 100 faults: a
// canary of a forgotten buffer, or of one that streams used after its Release, and poison of memory
// that went upstream. Close returns it, and each fault was logged when it was found.
//
// Else Config.Check panics with what it found: Release, where something wrote beyond the buffer, and
// a Get that is handed memory into which something wrote after its Release. It looks at the last
// 16,384 released blocks. It does not find a write that puts the poison back, nor one to memory that
// has gone upstream. Of a registered strategy it looks at no free block, as links may be in there.
//
// It costs 128 bytes a block, more in a pool whose blocks are aligned to more than 64, and a look at
// the call stack: it is for tests. Of memory that the CPU cannot reach it keeps the call sites only.
type CheckError struct{ Faults []string }

func (e *CheckError) Error() string { return strings.Join(e.Faults, "\n") }

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

func (c canaried) quarantine(b device.Block, _ int32) bool {
	q, ok := c.strategy.(quarantiner)
	return ok && c.TakeOut(b, func(outer device.Block) bool { return q.quarantine(outer, 0) })
}

func (p *pool) checkError() error {
	if f := p.check.Faults(); f != nil {
		return &CheckError{f}
	}
	return nil
}
