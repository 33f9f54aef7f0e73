package slab

import (
	"fmt"
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// NewStrategy returns the named strategy, one of [Strategies], over upstream, a
// registered one as its function has opened it. It
// reads the fields of c that are meant for that strategy, and aligns blocks at
// least as the upstream's device needs it. An unknown name or a fault of c gives
// a *ConfigError before anything happens.
//
// Strategies are safe for concurrent use if their upstream is. Each is a
// [UsageReporter], and all but direct are a [Holder] and a [Trimmer].
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
	return newStrategy(checked(upstream, 1), c.forStrategy(name, upstream)), nil
}

// newStrategy builds what c, which is valid and has its defaults, names. The
// strategies are interchangeable: another name is all it takes.
func newStrategy(up upstream.Checked, c Config) Allocator {
	switch c.Strategy {
	case "direct":
		return newDirect(up)
	case "exact":
		return newExact(up, c)
	case "bitlog":
		return newBitlog(up, c)
	case "sizeclass":
		return newSizeclass(up, c)
	case "bestfit":
		return newBestfit(up, c)
	case "slab":
		return newSlab(up, c)
	}
	return openRegistered(up, c) // Validate has seen to it that there is one
}

// freelistOptions are the bounds of c on a free list.
func freelistOptions(c Config, ordered bool) freelist.Options {
	o := freelist.Options{MaxBytes: heldLimit(c.MaxHeld), MaxBlocks: c.MaxHeldBlocks, MaxBlockBytes: c.MaxBlockBytes, Ordered: ordered}
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

// heapOptions are what of c concerns a page heap.
func heapOptions(c Config) pageheap.Options {
	return pageheap.Options{Align: c.Align, MissTarget: c.MissTarget, Decommit: c.Decommit, Locked: c.traits.locked, MaxHeld: heldLimit(c.MaxHeld)}
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

// A numbered strategy gives each block a number above 0, that of the extent that the
// block was cut from. A pool keeps it in the block's slot, so that Free needs no search.
type numbered interface {
	// AllocExtent is Alloc, with the number of the block's extent.
	AllocExtent(size int) (device.Block, int32, error)
	// FreeExtent is Free of a block whose extent has that number, or 0 where it is
	// not known. With another one it panics as Free does.
	FreeExtent(b device.Block, extent int32)
}

var (
	_ numbered = (*bestfitPool)(nil)
	_ numbered = (*slabPool)(nil)
)

// unnumbered makes any Allocator a numbered one.
type unnumbered struct{ Allocator }

func (u unnumbered) AllocExtent(size int) (device.Block, int32, error) {
	b, err := u.Alloc(size)
	return b, 0, err
}

func (u unnumbered) FreeExtent(b device.Block, _ int32) { u.Free(b) }

func numberedOf(a Allocator) numbered {
	if n, ok := a.(numbered); ok {
		return n
	}
	return unnumbered{a}
}
