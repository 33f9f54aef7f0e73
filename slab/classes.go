package slab

// Classes maps sizes to size classes, numbered from 0 in the order of their
// block sizes.
type Classes interface {
	// Index returns the smallest class whose blocks hold size bytes, or -1 if
	// size is negative or too large for any.
	Index(size int) int
	// Size returns the block size of a class, in bytes.
	Size(index int) int
}

// maxClass is the largest size that has a class: 256 TiB, or what an int holds.
const maxClass = min(1<<48, uint64(maxInt)>>1+1)
