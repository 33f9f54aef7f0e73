// Package wrap has Allocators over an Allocator that do one thing more. They need no pool:
//
//	Statistics   counts allocations in scopes: Push begins one, Pop returns its Counts
//	Record       writes a trace that package trace reads and bufslab replays
//	Check        finds writes beyond a block, double frees and leaks
//
// Each is opened over a device, a strategy, or another wrapper:
//
//	s, err := slab.NewStrategy("bestfit", d, slab.Config{})
//	counted := wrap.NewStatistics(s)
//	b, err := counted.Alloc(4096)
//	counted.Free(b)
//	fmt.Println(counted.Counts())
//
// A pool does not need them: it counts, records and checks its own Gets and Releases if its Config has
// Statistics, Record or Check. A wrapper below a pool sees only the blocks that the pool takes from its
// upstream, and not the pages of a range that grows.
//
// Further methods of an upstream go through every wrapper, in any order, also through a [slab.Limit]:
// FreeHeld, StopHolding, Trim and Usage reach the nearest strategy below, and Reserve the device.
// Without a strategy the first three do nothing, and Usage is zero. Without a device the error of Reserve
// wraps device.ErrUnavailable. A Statistics and a Record pass blocks of the upstream on, so pools over
// them share the upstream's budget. Blocks of a Check are parts of the upstream's blocks.
//
// Wrappers are safe for concurrent use if their upstream is. An error of the upstream is returned as it
// is, and its panics pass through. A nil upstream panics.
package wrap
