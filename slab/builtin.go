package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/strategy"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A builtin is a strategy with the Usage of this package.
type builtin struct{ strategy.Strategy }

// Usage reports where the managed bytes are.
func (b builtin) Usage() Usage { return Usage(b.Strategy.Usage()) }

func (b builtin) quarantine(x device.Block, extent int32) bool {
	return b.Strategy.Quarantine(x, extent)
}

// Step is the strategy's, if it has steps.
func (b builtin) Step() {
	if s, ok := b.Strategy.(upstream.Stepper); ok {
		s.Step()
	}
}

// A numberedBuiltin is a builtin that numbers its blocks. AllocFree and TakeBack are called with the lock of
// its front held, so it has to use that lock as its own.
type numberedBuiltin struct {
	builtin
	numbered
}

type numbered = strategy.Numbered

// numberedOf returns the numbered strategy of a, without the wrappers of this package.
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

// A quarantiner is a strategy that can quarantine blocks.
type quarantiner interface {
	// quarantine takes an active block, of an extent as FreeExtent has it, out of
	// use for good. Where it cannot it reports false, and the block stays active.
	quarantine(b device.Block, extent int32) bool
}
