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
// What most programs need:
//
//	MustOpen, OpenConfig, OpenEnv   a Pool, of a line, a Config, the environment
//	Pool          Get, GetContext, Stats, Close; GetBytes and Put for slices without handles
//	PooledBuffer  a handle, released once: Bytes, Slice, Share, Grow, Release
//	Buffer        a bytes.Buffer in a pool's memory
//	Slice         a handle of values of a type: see [Make]
//
// What pools are made of, for who makes a strategy or shares a budget:
//
//	Allocator     Alloc and Free: a device, a strategy or a wrapper
//	strategy      an Allocator that keeps blocks of its upstream: see [NewStrategy], [Register]
//	wrapper       an Allocator that does one thing more: [Limit], and those of package
//	              [github.com/bufslab/bufslab/slab/wrap]
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
