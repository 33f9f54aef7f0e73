package slab

import "github.com/bufslab/bufslab/device"

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
