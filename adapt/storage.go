package adapt

import (
	"context"

	"github.com/bufslab/bufslab/slab"
)

// A GoogleStoragePool is an experimental.BufferPool of cloud.google.com/go/storage: see [GoogleStorage].
type GoogleStoragePool struct{ of slices }

// GoogleStorage returns the BufferPool of cloud.google.com/go/storage/experimental over p, for parallel
// uploads. It has the methods that the interface has in v1.69.0; it is experimental there, and v1.70.0
// has others. p needs a max_bytes of at least one buffer, or Get never has to wait.
func GoogleStorage(p *slab.Pool) *GoogleStoragePool {
	g := &GoogleStoragePool{}
	g.of.open(p, nil)
	return g
}

// Get returns maxSize bytes. Where p has no room it waits until ctx is done, with the errors of
// [slab.Pool.GetContext]: a size that p can never have fails at once.
func (g *GoogleStoragePool) Get(ctx context.Context, maxSize int) ([]byte, error) {
	return g.of.pool.GetBytesContext(ctx, maxSize)
}

// TryGet returns maxSize bytes, or at once an error that wraps [device.ErrOutOfMemory] where p has no room.
func (g *GoogleStoragePool) TryGet(maxSize int) ([]byte, error) { return g.of.pool.GetBytes(maxSize) }

// Put gives a buffer of Get or TryGet back.
func (g *GoogleStoragePool) Put(b []byte) { g.of.put(b) }
