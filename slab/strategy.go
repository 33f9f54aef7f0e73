package slab

import (
	"fmt"
	"math"
	"slices"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/strategy"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// NewStrategy returns the named strategy, one of [Strategies], over upstream, a
// registered one as its function has opened it. It
// reads the fields of c that are meant for that strategy, and aligns blocks at
// least as the upstream's device needs it. An unknown name or a fault of c gives
// a *ConfigError before anything happens. It takes Config.Reserve as [Open] does, but
// writes no peak.
//
// Strategies are safe for concurrent use if their upstream is. Each of the built-in ones is a
// [UsageReporter], a [Holder] and a [Trimmer].
//
// If the upstream's Free panics, a strategy holds the block, whatever its bounds, and
// tries again in its next FreeHeld. Only direct does not know that the block was out:
// there it is out as before, and may be freed again.
func NewStrategy(name string, upstream Allocator, c Config) (Allocator, error) {
	if name == "" {
		return nil, configError([]string{"strategy=: want a name"})
	}
	if upstream == nil {
		return nil, fmt.Errorf("%w: strategy %s has none", ErrUpstream, name)
	}
	c.Strategy = name
	if err := c.Validate(); err != nil {
		return nil, err
	}
	k, err := learn(c)
	if err != nil {
		return nil, err
	}
	s := newStrategy(checked(upstream, 1), c.forStrategy(name, upstream), k, nil)
	if _, err := k.take(s); err != nil {
		return nil, err
	}
	return s, nil
}

// newStrategy builds what c, which is valid and has its defaults, names. The
// strategies are interchangeable: another name is all it takes. Only here are the fields
// of a Config turned into what a strategy is made with. Of a strategy before which a pool
// stands p is that pool, else nil.
func newStrategy(up upstream.Checked, c Config, k knowledge, p *pool) Allocator {
	switch c.Strategy {
	case "direct":
		return builtin{strategy.NewDirect(up, p != nil)}
	case "exact":
		return builtin{strategy.NewExact(up, freelistOptions(c))}
	case "bitlog":
		return builtin{strategy.NewBitlog(up, max(c.Bits, 0), freelistOptions(c))} // -1 is 0 bits
	case "sizeclass":
		return builtin{strategy.NewSizeclass(up, c.Steps, c.Align, c.MaxBytes, freelistOptions(c))}
	case "bestfit":
		s := strategy.NewBestfit(up, heapOptions(c, p))
		return numberedBuiltin{builtin{s}, s}
	case "slab":
		s := strategy.NewSlab(up, heapOptions(c, p))
		return numberedBuiltin{builtin{s}, s}
	case "plan":
		s := strategy.NewPlan(up, heapOptions(c, p), k.plan, k.places)
		return numberedBuiltin{builtin{s}, s}
	}
	return openRegistered(up, c) // Validate has seen to it that there is one
}

// openStrategy builds the strategy over the accounting, with its reserve, and its wrappers.
func (p *pool) openStrategy(c Config) error {
	k, err := learn(p.config.Config)
	if err != nil {
		return err
	}
	if handle.Sanitized {
		p.accounting.OnLeave(handle.Left)
	}
	p.strategy = newStrategy(p.accounting.Checked(), c, k, p)
	finish, err := k.take(p.strategy)
	if err != nil {
		return err
	}
	if finish != nil {
		p.onClose = append(p.onClose, finish)
	}
	own := isBuiltin(c.Strategy)
	if !own {
		p.strategy = newVerified(p.strategy, max(c.Align, 16), p.managed)
	}
	if c.Check {
		check := newCheck(p.strategy, max(c.Align, c.traits.Align))
		check.log = c.log
		if own { // others may keep links in free blocks
			check.lookAgain()
			p.accounting.OnLeave(check.leave)
		}
		p.strategy, p.check = check, check
	}
	p.blocks = numberedOf(p.strategy)
	p.openGuard(c, max(c.Align, 16))
	if s, ok := p.strategy.(numberedBuiltin); ok && p.guard.Guard == nil {
		p.joint = s.numbered
	}
	return nil
}

// builtins are the names that newStrategy knows, the simplest first.
var builtins = []string{"direct", "exact", "bitlog", "sizeclass", "bestfit", "slab", "plan"}

func isBuiltin(strategy string) bool { return slices.Contains(builtins, strategy) }

// A builtin is a strategy with the Usage of this package.
type builtin struct{ strategy.Strategy }

// Usage reports where the managed bytes are.
func (b builtin) Usage() Usage { return Usage(b.Strategy.Usage()) }

func (b builtin) quarantine(x device.Block, extent int32) bool {
	return b.Strategy.Quarantine(x, extent)
}

// Step is the strategy's, if it has steps.
func (b builtin) Step() {
	if s, ok := b.Strategy.(stepper); ok {
		s.Step()
	}
}

// A numberedBuiltin is one that numbers its blocks.
type numberedBuiltin struct {
	builtin
	numbered
}

type numbered = strategy.Numbered

// numberedOf returns the strategy of a, without what stands before it here.
func numberedOf(a Allocator) numbered {
	switch a := a.(type) {
	case numberedBuiltin:
		return a.numbered
	case builtin:
		return unnumbered{a.Strategy}
	}
	return unnumbered{a}
}

// unnumbered makes any Allocator a numbered one.
type unnumbered struct{ Allocator }

func (u unnumbered) AllocExtent(size int) (device.Block, int32, error) {
	b, err := u.Alloc(size)
	return b, 0, err
}

func (u unnumbered) FreeExtent(b device.Block, _ int32) { u.Free(b) }

func (unnumbered) AllocFree(int) (b device.Block, extent int32) { return b, 0 }

func (unnumbered) TakeBack(device.Block, int32) (over, ok bool) { return false, false }

func (unnumbered) TookBack(device.Block, bool) {}

func (unnumbered) Extend(device.Block, int32, int, bool, func() bool) bool { return false }

func (unnumbered) AllocRoomy(int) (b device.Block, extent int32, ok bool) { return b, 0, false }

// freelistOptions are the bounds of c on a free list.
func freelistOptions(c Config) freelist.Options {
	o := freelist.Options{MaxBytes: heldLimit(c.MaxHeld), MaxBlocks: c.MaxHeldBlocks, MaxBlockBytes: c.MaxBlockBytes}
	switch {
	case o.MaxBlocks == 0:
		o.MaxBlocks = math.MaxInt
	case o.MaxBlocks < 0:
		o.MaxBlocks = 0
	}
	if o.MaxBlockBytes <= 0 {
		o.MaxBlockBytes = noLimit
	}
	return o
}

// heapOptions are what of c concerns a page heap, and what a pool before it does for it.
func heapOptions(c Config, p *pool) pageheap.Options {
	o := pageheap.Options{Align: c.Align, MissTarget: c.MissTarget, Decommit: c.Decommit || c.Strategy == "plan", Locked: c.traits.locked, MaxHeld: heldLimit(c.MaxHeld)}
	if p != nil {
		o.Gets, o.Lock = p.cache.Gets, &p.mu
		o.BeforePeak = func() {
			if p.reclaimMu.TryLock() { // who holds it may wait for a stream
				defer p.reclaimMu.Unlock()
				p.emptyCachesLocked(false)
			}
		}
		o.Numbered = !c.Check // else Check frees by address
	}
	return o
}

const noLimit = math.MaxInt64

// heldLimit turns Config.MaxHeld, where 0 is no limit and a negative value
// keeps nothing, into a bound in bytes.
func heldLimit(n int64) int64 {
	switch {
	case n == 0:
		return noLimit
	case n < 0:
		return 0
	}
	return n
}
