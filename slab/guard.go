package slab

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/canary"
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A pool with Config.Guard has guarded buffers in memory apart from its strategy, and a list of
// faults. slab/internal/guard does the guarding.

// A guarding is the state of a pool with Config.Guard.
type guarding struct {
	*guard.Guard // nil without
	name         string
	log          watch.LateLog
	hooks        *Hooks
	faults       atomic.Int64

	mu    sync.Mutex // leaf
	found []error    // for Close: what was written
}

// linger is longer than any goroutine waits for a processor while others collect. A goroutine within
// its Release still has the memory in its registers.
const linger = time.Second

// guardedBlocks is a strategy with a Guard at its side.
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
	err := g.errorOf(f)
	if !err.Outlived {
		g.keep(err)
	}
	g.log.Error(err.Error())
	go func() {
		g.log.Flush()
		g.hooks.guardFault(err)
	}()
}

// maxFaults is how many faults are kept, as by Check.
const maxFaults = canary.MaxFaults

func (g *guarding) keep(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.found) < maxFaults {
		g.found = append(g.found, err)
	}
}

// err returns the writes after Release, up to 100, each a *GuardError.
func (g *guarding) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.found...)
}

func (g *guarding) errorOf(f guard.Fault) *GuardError {
	return &GuardError{g.name, f.Len, f.View, f.Off, watch.StackOf(f.Got), watch.StackOf(f.Released)}
}

// collected is called after every collection, with the number of Gets.
func (g *guarding) collected(gets func() int64) {
	if g.Guard != nil {
		g.Look()
		g.TurnIfDue(gets())
	}
}

// managed returns the bytes that the guard has from the upstream.
func (g *guarding) managed() int64 {
	u := g.Usage()
	return u.ActiveBytes + u.RoundingBytes + u.Withheld
}

// counts returns how many buffers were withheld, and how many faults were found.
func (g *guarding) counts() (guarded, faults int64) {
	if g.Guard == nil {
		return 0, 0
	}
	return g.Count(), g.faults.Load()
}
