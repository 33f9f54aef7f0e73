// Package adapt makes a [slab.Pool] the allocator of other libraries:
//
//	mem := adapt.Arrow(pool)                                            // a memory.Allocator of arrow-go
//	s := grpc.NewServer(experimental.BufferPool(adapt.GRPC(heapPool)))  // a mem.BufferPool of grpc-go
//	proxy := &httputil.ReverseProxy{BufferPool: adapt.HTTP(pool, 32<<10)}
//
// Give gRPC a pool on the Go heap: gRPC does not put back every buffer of calls that end early. Package
// adapt imports none of these libraries: their interfaces are small, and an adapter has the methods.
//
// Those libraries know buffers by their slices. So each call is a [slab.Pool.GetBytes], and
// its counterpart a [slab.Pool.Put]. No adapter keeps a map of active buffers, so on the Go heap
// a buffer that a library forgets comes back as others do. Off the heap a forgotten buffer stays
// active for good. Callers do forget: a program that does not release the buffers of a batch loses
// that memory with each batch, and has one warning of it in the log. So take a pool on the Go heap
// unless the library returns every buffer: see docs/leaks.md.
//
// A slice that is no buffer of the pool, or that was put before, is refused, counted in
// [slab.Stats].ForeignPuts, and left to the collector; with Config.Strict Put panics.
//
// Adapters are safe for concurrent use. Several may share a pool with each other and with
// code that uses handles. The code that opened the pool closes it; active buffers then stay
// valid, and may be put. A constructor panics with an error that wraps
// [device.ErrUnavailable] if the CPU cannot reach the pool's memory.
//
// Call sites of leaks and recordings are those of the adapters' callers.
//
// Strings and slices that a library takes from a buffer alias pooled memory, such as those of an
// Arrow array. Copy all that has to outlive the buffer (strings.Clone), map keys, too.
package adapt
