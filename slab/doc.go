// Package slab says how memory is reused.
//
// A [Pool] hands out buffers of a device's memory and keeps what comes back.
// One line of configuration chooses the device, the strategy and its knobs:
//
//	c, err := slab.ParseConfig("device=mmap,strategy=slab,max_bytes=1GiB")
//	pool, err := slab.OpenConfig(c)
//	b, err := pool.Get(1 << 20)
//	defer b.Release()
//
// The cast:
//
//	Allocator     Alloc and Free: a device, a strategy or a wrapper
//	strategy      an Allocator that keeps blocks of its upstream: Direct,
//	              Exact, BitlogPool, Sizeclass, Bestfit, Slab
//	wrapper       an Allocator that does one thing more: Limit, Scopes,
//	              Record, Check
//	Pool          handles, caches and counters in front of a strategy
//	PooledBuffer  a handle; released once, and forgotten without harm
//	slot          what a handle points to: whose turn the memory is
//	home          what a pool knows of a region: the slots of its blocks
//	waiter        a released block that streams have still work to do on
//	ledger        what a pool has from its upstream
//
// The way of a Get:
//
//  1. Sizes that are cached are rounded up to a class. The processor's
//     magazine of that class has a block: done (cache.go). Or the depot has (refill.go).
//  2. The strategy is asked. It finds a free block, or goes upstream through
//     the ledger and the limit (stack.go names the strategies, each in its file).
//  3. There is no room: the caches are emptied, streams that use released blocks
//     are waited for, held memory is given back, pools that share the budget are
//     asked to do so, and the strategy is asked again.
//  4. The block gets a slot in the home of its region (home.go).
//
// Release ends the slot's generation, by one compare-and-swap or, on the
// processor of the Get, without it (bias.go); whoever wins puts the block into the
// magazine, and what overflows goes back to the strategy. What happens to a buffer that is never released stands in forget.go,
// to one that streams use in stream.go.
//
// # What it is not for
//
// Values with pointers: the memory is bytes, and the collector does not look
// into it. Objects of a few bytes that live for microseconds: make is as fast.
package slab
