package adapt

import (
	"sync"

	"github.com/bufslab/bufslab/slab"
)

// A GRPCPool is a BufferPool of google.golang.org/grpc/mem: see [GRPC].
type GRPCPool struct {
	slices
	pointers sync.Pool // *[]byte of nil, for Get
}

// GRPC returns a mem.BufferPool over p. Give it to a server as experimental.BufferPool, to a
// client as experimental.WithBufferPool, and to the codec, which uses neither option, by
// experimental.SetDefaultBufferPool.
//
// With any pool gRPC forgets some buffers of calls that time out or are cancelled. On the Go
// heap they come back; off the heap they stay active for good. So give gRPC a pool on the heap.
//
// Before they have come gRPC takes the bytes of a frame, at most 16 KiB, but not of a message: what a
// peer declares as the length of a message takes nothing.
//
// A server that runs out of pooled memory should answer more slowly, not fail: where p has no
// room, or is closed, Get makes a buffer, after the wait that [Wait] asks for. So max_bytes of p does not
// bound the server: p counts what is beyond it in [slab.Stats].OverflowBytes, also without overflow=make.
// Put leaves such buffers to the collector. From the first one on, Put no longer counts slices that p
// does not know.
func GRPC(p *slab.Pool, options ...Option) *GRPCPool {
	g := &GRPCPool{}
	g.open(p, options)
	return g
}

// Get returns a buffer of length bytes with undefined contents.
func (g *GRPCPool) Get(length int) *[]byte {
	b, ok := g.pointers.Get().(*[]byte)
	if !ok {
		b = new([]byte)
	}
	*b = g.get(length)
	return b
}

// Put gives a buffer of Get back. It finds the buffer by the beginning of *b: a prefix, (*b)[:n],
// may have any length, in any variable. Put clears *b and keeps b for a later Get, so use neither
// afterwards. A second Put of b is refused unless b has been handed out again.
func (g *GRPCPool) Put(b *[]byte) {
	m := *b
	*b = nil
	g.put(m)
	if m != nil {
		g.pointers.Put(b)
	}
}
