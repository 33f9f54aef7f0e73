package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/strategy"
)

// A numbered is a strategy of ours that numbers its blocks. AllocFree and TakeBack are called with the lock
// of its front held: it uses that lock as its own.
type numbered = strategy.Numbered

// numberedOf returns a as a numbered strategy.
func numberedOf(a Allocator) numbered {
	if n, ok := a.(numbered); ok {
		return n
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
	// Quarantine takes an active block, of an extent as FreeExtent has it, out of
	// use for good. Where it cannot it reports false, and the block stays active.
	Quarantine(b device.Block, extent int32) bool
}
