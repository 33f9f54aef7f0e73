// Package adapt makes a [slab.Pool] the allocator of other libraries: [Arrow] of arrow-go,
// [GRPC] of grpc-go, [HTTP] of net/http/httputil. It imports none of them: their interfaces
// are small, and an adapter has the methods.
//
// Those libraries know buffers by their slices. So each call is a [slab.Pool.GetBytes], and
// its counterpart a [slab.Pool.Put]. No adapter keeps a map of what is out, so on the Go heap
// a buffer that a library forgets comes back as others do. Off the heap it stays out:
// see docs/leaks.md.
//
// What comes back that is no buffer of the pool, or was put before, is refused, counted in
// [slab.Stats].ForeignPuts, and left to the collector; with Config.Strict that panics.
//
// Adapters are safe for concurrent use, several may share a pool with each other and with
// code that uses handles, and closing the pool is up to who opened it. What is out then stays
// valid, and may be put. A constructor panics with an error that wraps
// [device.ErrUnavailable] if the CPU cannot reach the pool's memory.
//
// Call sites of leaks and recordings are those of the adapters' callers.
//
// What a library shows of a buffer aliases pooled memory: strings and slices of an Arrow array,
// say. Copy what is to outlive the buffer (strings.Clone), map keys, too.
package adapt
