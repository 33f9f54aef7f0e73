package device

// An Allocator hands out blocks of memory and takes them back. A device is an Allocator, and
// so is a strategy of package slab over another Allocator.
//
// Alloc returns a block whose Len is size, with undefined contents. Size 0
// gives the zero Block without a call upstream. The error wraps [ErrSize] for a
// negative size, and [ErrOutOfMemory] where there is no room. An error
// changes nothing.
//
// Free takes a block back exactly as Alloc returned it, and ignores the zero Block.
// Free of a block that is not active is a mistake in the program: Free panics
// with numbers and the allocator stays intact.
type Allocator interface {
	Alloc(size int) (Block, error)
	Free(Block)
}

// Usage splits the bytes that an Allocator has from its upstream:
//
//	managed = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
type Usage struct {
	ActiveBlocks, HeldBlocks int64
	ActiveBytes              int64 // as asked for
	RoundingBytes            int64 // of active blocks, beyond the bytes asked for
	HeldBytes                int64 // free, and could be handed out
	UnusableBytes            int64 // the rest: tails of slabs, alignment
}

// ManagedBytes is the sum of the four.
func (u Usage) ManagedBytes() int64 {
	return u.ActiveBytes + u.RoundingBytes + u.HeldBytes + u.UnusableBytes
}
