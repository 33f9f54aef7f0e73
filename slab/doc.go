// Package slab says how memory is reused.
//
// A [Pool] hands out buffers of a device's memory and keeps what comes back. One line of
// configuration chooses the device, the strategy and its knobs:
//
//	c, err := slab.ParseConfig("device=mmap,strategy=slab,max_bytes=1GiB")
//	pool, err := slab.OpenConfig(c)
//	b, err := pool.Get(1 << 20)
//	defer b.Release()
//
// The cast:
//
//	Allocator     Alloc and Free: a device, a strategy or a wrapper
//	strategy      an Allocator that keeps blocks of its upstream: see [NewStrategy]
//	wrapper       an Allocator that does one thing more: [Limit], [Statistics],
//	              [Record], [Check]
//	Pool          handles, caches and counters in front of a strategy
//	PooledBuffer  a handle, released once
//
// docs/design.md in the repository follows a buffer from Get to Release, and lists the
// locks and the invariants; docs/leaks.md says what happens to a buffer that is never
// released.
//
// # What it is not for
//
// Values with pointers: the memory is bytes, and the collector does not look into it.
// Objects of a few bytes that live for microseconds: make is as fast.
package slab
