package slab

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/sim" // so that Config.Device can name it
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/internal/poolset"
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/percpu"
)

// Open returns a pool that draws on upstream, a device or any Allocator, as c says.
// Defaults depend on the device, if it is one. Config.Device opens nothing: see
// [OpenConfig], and there for the order of the stack. If the device puts memory behind
// a block only when it is first used, a warning goes to Config.Logger and to Explain.
//
// Two open pools of the process never write the same file.
//
// The error is one of these: a *ConfigError that names every fault of c; a *[FileError]; the error
// of opening or creating a file that c names; the device's error where it has no room for
// Config.Reserve; the error of [ShareOf]. After an error no memory of the upstream is taken.
func Open(upstream Allocator, c Config) (*Pool, error) { return openOn(upstream, c, nil) }

// openOn is Open of a pool that closes the device owned, if that is not nil. Once it returns, package pressure has
// shown the pool to others: nothing of its settings may change.
func openOn(upstream Allocator, c Config, owned device.Device) (*Pool, error) {
	if upstream == nil {
		return nil, fmt.Errorf("%w: a pool has none", ErrUpstream)
	}
	dev := deviceOf(upstream)
	c.traits = traitsOf(dev)
	if dev != nil && c.Device == "" {
		c.Device, c.traits.from = dev.Name(), "of the upstream" // defaults depend on it
		if owned != nil {
			c.traits.from = "default"
		}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, full, err := c.resolved(upstream)
	if err != nil {
		return nil, err
	}
	full.Name = c.nameOr(full)
	for _, warning := range []string{c.traits.warning(), c.traits.share.odd} {
		if warning != "" {
			full.log().Warn("slab: " + warning)
		}
	}
	p := &pool{config: settings{Config: full, given: c, on: upstream, device: owned}}
	if err := p.open(); err != nil {
		return nil, err
	}
	front := &Pool{p}
	p.front = weak.Make(front)
	poolset.Add(p)
	runtime.AddCleanup(front, (*pool).abandon, p)
	return front, nil
}

// open builds the stack of a pool that has its settings, and lets it run.
func (p *pool) open() error {
	release, err := p.claimFiles()
	if err != nil {
		return err
	}
	stacked := false
	defer func() { // also if a registered strategy or the upstream panics
		if !stacked {
			_ = release() // it has no error to give
		}
	}()
	if err := p.stack(p.config.on); err != nil {
		return err
	}
	stacked = true
	p.onClose = append(p.onClose, release) // last: until then the files are written
	p.enterBudgets(p)
	if !p.config.replayed() {
		p.startClock()
		watchCollections(p)
		watchPressure(p)
	}
	return nil
}

// stack builds the layers of a pool over an upstream.
func (p *pool) stack(on Allocator) error {
	c := p.config.Config
	p.lending.config, p.layers.config, p.back = &p.config, &p.config, p.freePending
	p.drawOn(on, c, p.table.Forget)
	caches := p.openCaches(c)
	p.openTable(c)
	if c.MaxHeld > 0 && caches.Largest > 0 {
		c.MaxHeld = heldBelow(caches, c.MaxHeld)
		p.held.bytes = c.MaxHeld
	}
	if err := p.openStrategy(c); err != nil {
		return err
	}
	return p.openWatchers(c, caches.Largest)
}

// drawOn puts the limit of c and the accounting on an upstream. leaving is told of each region that goes back.
func (l *layers) drawOn(on Allocator, c Config, leaving func(device.Region) func()) {
	align := max(c.Align, 16)
	l.own = newLimit(on, heldLimit(c.MaxBytes), align)
	l.upstream, l.accounting = l.own, account(l.own, align, leaving)
}

// openCaches opens the caches that c asks for, and returns their options.
func (p *pool) openCaches(c Config) percpu.Options {
	o := cacheOptions(c, p.config.cpus())
	o.Processors, o.Replayed = p.config.cpus(), p.config.replayed()
	o.Managed, o.Free, o.Pace, o.Lock = p.accounting.Managed, p.free, p.profile.Open(p.config.profileRate()), &p.mu
	o.Raised = p.changed
	p.cache.Open(o)
	p.refusals.of = make([]atomic.Pointer[refusal], p.cache.Uncached()+1)
	p.peak.open(o.Processors)
	return o
}

func (p *pool) openTable(c Config) {
	reachable, unreachable := watchFrom(c)
	p.table.Open(unsafe.Pointer(p), handle.Options{
		Lock: &p.mu, WatchCollected: p.accounting.OwnsRegions(),
		WatchFrom: reachable, WatchUnreachableFrom: unreachable,
		Forgotten: p.wasForgotten, PartForgotten: p.leaks.PartForgotten,
		Found: p.regionFound, Free: p.freeForgotten, Quarantine: p.quarantine,
	})
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
	p.strategy = newStrategy(p.accounting.Checked(), c, front{gets: p.cache.Gets, lock: &p.mu,
		processor: p.cache.Processor, beforePeak: func() {
			if p.reclaimMu.TryLock() { // its holder may wait for a stream
				defer p.reclaimMu.Unlock()
				p.emptyCachesLocked(false)
			}
		}})
	p.unwrapped = p.strategy
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
		p.openCheck(c, own)
	}
	p.blocks = numberedOf(p.strategy)
	p.openGuard(c, max(c.Align, 16))
	if s, ok := p.strategy.(numbered); ok && p.guard.Guard == nil {
		p.joint = s // it was opened with p.mu, as the lock of its front
	}
	return nil
}

// openGuard puts a Guard at the side of the strategy. A replay has none: it repeats bit for bit.
func (p *pool) openGuard(c Config, align int) {
	if c.Guard <= 0 || p.config.replayed() {
		return
	}
	p.guard.name, p.guard.log.Log, p.guard.hooks = c.Name, c.log, c.Hooks
	p.guard.Guard = guard.New(p.accounting.Checked(), guard.Options{
		Every: c.Guard, Align: align, Linger: linger, Report: p.guard.report, Begin: p.cache.Stop, End: p.cache.Start,
	})
	p.blocks = guardedBlocks{p.blocks, p.guard.Guard}
}

// openWatchers opens the observers. It sets the size up to which Get has no more to do than a hit.
func (p *pool) openWatchers(c Config, cached int) error {
	if err := p.openLog(c); err != nil {
		forwardTo(p.strategy).FreeHeld() // the reserve
		return err
	}
	if r := p.leaks.Record; r != nil {
		p.onClose = append(p.onClose, r.Close)
	}
	if !p.leaks.SeesAll() && !c.Zero {
		p.direct = cached
	}
	p.setClock(c)
	if p.config.replayed() {
		c.GCTrigger = -1
	}
	p.gc.Open(c.GCTrigger, p.table.WatchedBytes, p.leaks.ForgottenBytes)
	return nil
}

// watchCollections calls a pool after each collection, until it is closed.
func watchCollections(p *pool) {
	gcwatch.Notify(p, func(p *pool) bool {
		if p.closed.Load() {
			return false
		}
		p.guard.Tick()
		p.changed() // the next Get that has no room looks for what was forgotten
		go func() { // it may go upstream, and others wait for this goroutine
			p.gc.Collected()
			p.sweep()
			p.guard.collected(p.cache.Gets)
			p.lookWithoutCaches()
			p.noticeGrowth()
		}()
		return true
	})
}
