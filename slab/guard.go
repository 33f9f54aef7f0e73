package slab

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// What a pool has beside its strategy for Config.Guard: the memory of the buffers that are
// guarded, and what was found. How they are guarded stands in slab/internal/guard.

// A GuardError says that the memory of a guarded buffer was used after its Release; see
// Config.Guard.
type GuardError struct {
	Pool  string // its name: see Pool.Name
	Bytes int    // of the block

	// Outlived says that nothing was written, but that something still reached the memory
	// four collections after Release: a slice, or a handle that the program has kept, which
	// is no mistake by itself. It is told of the Go heap only.
	Outlived bool

	Offset int // of the first byte that was written, or touched

	// Got and Released are the stacks of the Get and of the Release, a line for each call
	// outside this package, as function and file:line. A buffer that waited for a stream, or
	// that was forgotten, came back by a call of the pool's, whose stack it is then.
	Got, Released string
}

// Error names both stacks.
func (e *GuardError) Error() string {
	what := fmt.Sprintf("a use at offset %d of", e.Offset)
	if e.Outlived {
		what = "a slice or a handle still reaches"
	}
	return fmt.Sprintf("slab: pool %s: %s a block of %d bytes after its Release\ngot at\n%sreleased at\n%s", e.Pool, what, e.Bytes, e.Got, e.Released)
}

// A guarding is what a pool with Config.Guard has for it.
type guarding struct {
	*guard.Guard // nil without
	pool         *pool
	faults       atomic.Int64

	mu    sync.Mutex // leaf
	found []error    // for Close: what was written
}

// linger is longer than any goroutine waits for a processor while others collect: one that is
// within its Release has the memory in its registers.
const linger = time.Second

// openGuard puts a Guard beside the strategy. A replay has none: it repeats bit for bit.
func (p *pool) openGuard(c Config, align int) {
	if c.Guard <= 0 || p.config.replayed() {
		return
	}
	p.guard.pool = p
	p.guard.Guard = guard.New(p.accounting.Checked(), guard.Options{
		Every: c.Guard, Align: align, Linger: linger, Report: p.guard.report, Begin: p.cache.Stop, End: p.cache.Start,
	})
	p.blocks = guardedBlocks{p.blocks, p.guard.Guard}
}

// guardedBlocks has a Guard beside a strategy.
type guardedBlocks struct {
	numbered
	guard *guard.Guard
}

func (g guardedBlocks) AllocExtent(size int) (device.Block, int32, error) {
	if b, ok := g.guard.Alloc(size); ok {
		return b, guard.Extent, nil
	}
	return g.numbered.AllocExtent(size)
}

func (g guardedBlocks) FreeExtent(b device.Block, extent int32) {
	if extent == guard.Extent {
		g.guard.Free(b)
		return
	}
	g.numbered.FreeExtent(b, extent)
}

func (g guardedBlocks) AllocRoomy(size int) (device.Block, int32, bool) {
	if b, ok := g.guard.Alloc(size); ok {
		return b, guard.Extent, true
	}
	return g.numbered.AllocRoomy(size)
}

func (g guardedBlocks) Extend(b device.Block, extent int32, n int, stay bool, end func() bool) bool {
	return extent != guard.Extent && g.numbered.Extend(b, extent, n, stay, end)
}

// report tells of a fault, on another goroutine: the caller may hold locks.
func (g *guarding) report(f guard.Fault) {
	g.faults.Add(1)
	err := g.pool.guardError(f)
	if !err.Outlived {
		g.keep(err)
	}
	c := &g.pool.config
	go func() {
		c.log().Error(err.Error())
		c.Hooks.guardFault(err)
	}()
}

func (g *guarding) keep(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.found) < maxFaults {
		g.found = append(g.found, err)
	}
}

// err returns what was written after Release, up to 100 of a *GuardError.
func (g *guarding) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.found...)
}

func (p *pool) guardError(f guard.Fault) *GuardError {
	return &GuardError{p.config.Name, f.Len, f.View, f.Off, watch.StackOf(f.Got), watch.StackOf(f.Released)}
}

// GuardFault says what a fault at addr has touched, if that is a guarded buffer off the Go
// heap after its Release; else it returns nil. Go ends a program that touches such memory,
// unless [runtime/debug.SetPanicOnFault] makes that a panic; its value has a method Addr.
func (p *Pool) GuardFault(addr uintptr) *GuardError {
	q := p.opened()
	if q.guard.Guard == nil {
		return nil
	}
	f, ok := q.guard.At(addr)
	if !ok {
		return nil
	}
	return q.guardError(f)
}

// collected hears of every collection.
func (g *guarding) collected() {
	if g.Guard != nil {
		g.Look()
		g.TurnIfDue(g.pool.cache.Gets())
	}
}

func (g *guarding) regionFound(r device.Region) {
	if g.Guard != nil {
		g.Found(r)
		g.pool.wake()
	}
}

func (g *guarding) quarantine(b device.Block, _ int32) bool { return g.Quarantine(b) }

// managed returns the bytes that the guard has from the upstream.
func (g *guarding) managed() int64 {
	u := g.Usage()
	return u.ActiveBytes + u.RoundingBytes + u.Withheld
}

// count adds what the guard has to what the strategy says.
func (g *guarding) count(s *Stats, u *Usage) {
	if g.Guard == nil {
		return
	}
	own := g.Usage()
	u.ActiveBlocks += own.ActiveBlocks
	u.ActiveBytes += own.ActiveBytes
	u.RoundingBytes += own.RoundingBytes
	u.UnusableBytes += own.Withheld
	s.Guarded, s.WithheldBytes, s.GuardFaults = g.Count(), own.Withheld, g.faults.Load()
}
