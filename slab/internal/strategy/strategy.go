// Package strategy has the built-in strategies of package slab. A strategy
// gets memory from an upstream, cuts and keeps it in its own way, and gives it back:
//
//	direct.go              keeps nothing
//	keeper.go              the common part of strategies that keep whole blocks
//	exact.go, bitlog.go    keep whole blocks by a key: keyed.go
//	sizeclass.go           keeps blocks by class, and carves the small ones from slabs: slabs.go
//	bestfit.go             cuts blocks of any size from large regions
//	slab.go                carves small blocks from blocks of bestfit
//
// All are safe for concurrent use if their upstream is.
package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Strategy is an Allocator that reports its Usage, a slab.Holder and a
// slab.Trimmer.
type Strategy interface {
	device.Allocator
	upstream.Vouching

	// Usage reports where the managed bytes are.
	Usage() device.Usage
	// FreeHeld gives held memory upstream, as far as it can go.
	FreeHeld()
	// StopHolding is FreeHeld. From now on memory that can go upstream goes at once.
	StopHolding()
	// Trim ends an epoch, gives back memory that was held, untouched, for the last
	// idle epochs, and returns its bytes.
	Trim(idle int) int64
	// Shrink gives back the longest held memory, until about n bytes have gone or no more
	// can go.
	Shrink(n int64)
	// Quarantine takes an active block, of an extent as FreeExtent has it, out of use
	// for good. Where it cannot it reports false, and the block stays active.
	Quarantine(b device.Block, extent int32) bool
}

// A Numbered strategy gives each block a number above 0, the number of the extent that
// the block was cut from. A pool keeps it in the block's slot, so that Free needs no search.
type Numbered interface {
	// AllocExtent is Alloc, with the number of the block's extent.
	AllocExtent(size int) (device.Block, int32, error)
	// FreeExtent is Free of a block whose extent has that number; 0 is not known. With
	// a wrong number it panics as Free does.
	FreeExtent(b device.Block, extent int32)
	// AllocFree is AllocExtent of memory that is free already, or returns 0: it never goes
	// upstream. size is a size that AllocExtent would take, and not 0. The caller holds the
	// lock that the strategy was made with.
	AllocFree(size int) (b device.Block, extent int32)
	// TakeBack is FreeExtent for a caller that holds that lock. After false and true all is
	// done. Otherwise the caller unlocks and calls TookBack, which goes upstream if too much
	// is held (over), or panics as FreeExtent does (not ok).
	TakeBack(b device.Block, extent int32) (over, ok bool)
	TookBack(b device.Block, ok bool)
	// Extend makes a block of such an extent size bytes long, in place. It calls take when
	// nothing can fail any more. Extend reports false, and the block is as before, if take
	// refuses, or there is no room, or a copy is better and stay is false.
	Extend(b device.Block, extent int32, size int, stay bool, take func() bool) bool
	// AllocRoomy is AllocExtent of a block that Extend may make longer, or false.
	AllocRoomy(size int) (b device.Block, extent int32, ok bool)
}

// A usage is the Usage of a strategy as it counts.
type usage device.Usage

// add and sub count a block of size bytes, and rounding bytes beyond that, as active.
func (u *usage) add(size int, rounding int64) {
	u.ActiveBlocks++
	u.ActiveBytes += int64(size)
	u.RoundingBytes += rounding
}

func (u *usage) sub(size int, rounding int64) {
	u.ActiveBlocks--
	u.ActiveBytes -= int64(size)
	u.RoundingBytes -= rounding
}
