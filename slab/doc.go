// Package slab pools large, short-lived buffers, on the Go heap, in mmap memory or on a device.
//
// A [Pool] hands out buffers of a device's memory and keeps released ones for reuse. Three calls are
// enough for the first day: open a pool, Get a buffer, Release it.
//
//	pool := slab.MustOpen("max_bytes=1GiB") // on the Go heap
//	defer pool.Close()
//	b, err := pool.Get(1 << 20)
//	if err != nil {
//		return err
//	}
//	defer b.Release()
//	copy(b.Bytes(), data)
//
// Pools and handles are safe for concurrent use. The bytes of a Get are undefined, those of GetZeroed are
// zero; do not use them after Release. A buffer that is never released comes back where the collector can
// see that nothing uses it. A forgotten buffer off the heap whose Bytes was called does not come back; a
// late use of that slice faults: see [Pool].
//
// The text in MustOpen, the line, chooses the device, the strategy and its options: see [Config]. For the second day:
//
//	MustOpen      a Pool of a line of configuration, or a panic
//	OpenConfig    a Pool of a [Config], and an error; [ParseConfig] reads a line
//	OpenEnv       a Pool of the environment's BUFSLAB_CONF
//	Open          a Pool on a device or Allocator that the program has opened
//	Pool          Get, GetContext, Stats, Close; GetBytes and Put for slices without handles
//	PooledBuffer  a handle that is released once: Bytes, Slice, Share, Grow, Release
//	Ref           a name of a buffer that keeps nothing alive, for messages and maps
//	Slice         a handle of values of a type: see [Make]
//	Limit         a budget that several pools share: see [NewLimit]
//
// Buffers that grow as they are written to are in package iobuf, many small pieces that end
// together in package arena.
//
// The parts of a pool, for a program that has a strategy of its own:
//
//	Allocator     Alloc and Free: a device, a strategy or a wrapper
//	strategy      an Allocator that keeps blocks of its upstream: see [NewStrategy], [Register]
//	wrapper       an Allocator that does one thing more: [Limit]
//
// docs/design.md in the repository follows a buffer from Get to Release, and lists the
// locks and the invariants; docs/leaks.md says what happens to a buffer that is never
// released, docs/recording.md how a program's allocations are recorded.
//
// # What it is not for
//
// Values with pointers: the memory is bytes, and the collector does not look into it.
// Objects of a few bytes that live for microseconds: make is as fast.
package slab
