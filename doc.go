// Package bufslab is the map of a library for memory that the garbage
// collector handles badly: large, short-lived, reused, or not the CPU's at
// all. It holds no code; these packages do:
//
//	device       where memory lives: heap, mmap, virtual, sim, and how bytes move
//	slab         how memory is reused: strategies, the pool in front, its Config
//	iobuf        a bytes.Buffer in pooled memory, bodies that own theirs, reads that wait without any
//	arena        many small pieces of pooled memory that are freed at once
//	pressure     all pools of a process, and what the collector should know of their memory
//	slabtest     pools for tests, which fail with the places of what they did not release
//	growpool     buffers with keys that grow, seen through views
//	unified      arrays in two places, host and device, that copy only what changed
//	adapt        pools as the allocators of other libraries: arrow-go, grpc-go, httputil
//	inspect      what running pools look like: a page, JSON, profiles, over HTTP
//	trace        recordings of allocations: read, write, replay
//	fuzz         models that property-test a device, a strategy, a pool or a unified buffer
//	fuzz/soak    pools of every strategy on any device, for as long as it is told
//	fuzz/stress  every way to use a pool at once, in a process that changes under it
//	cmd/bufslab  replays traces over configurations
//
// Most programs need slab alone, and three names of it: Open, Get, Release. README.md has the
// program.
//
// Imports point one way only, cmd to trace, growpool, unified, iobuf, arena, adapt,
// inspect, pressure and slabtest to slab to device, so that each package can be read and used without those above it.
// Packages slab, device and inspect need nothing outside the standard library but
// golang.org/x/sys; only fuzz imports rapid, only growpool
// ristretto, and only the devices in directories of their own a driver. The
// test beside this file holds that.
package bufslab
