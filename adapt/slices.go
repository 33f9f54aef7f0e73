package adapt

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// slices hands out buffers to callers that take no error.
type slices struct {
	pool *slab.Pool
	made atomic.Int64 // slices, as the pool gave none
}

// reachable panics if p has no memory that the CPU can reach. It asks for a buffer: it cannot
// tell for a pool that is closed or has no room.
func reachable(p *slab.Pool) {
	b, err := p.GetBytes(1)
	switch {
	case err == nil:
		_ = p.Put(b)
	case errors.Is(err, device.ErrUnavailable):
		panic(fmt.Errorf("adapt: %w", err))
	}
}

// get returns size bytes, from make if the pool has none.
func (s *slices) get(size int) []byte {
	b, err := s.pool.GetBytes(size)
	if err != nil {
		b = make([]byte, size) // panics for a negative size
		s.made.Add(1)
	}
	return b
}

// put gives a slice back. The pool does not know slices from make, and they must not look like
// mistakes of the caller. So once there is such a slice, put does not count unknown ones.
func (s *slices) put(b []byte) {
	if s.made.Load() > 0 {
		if _, ok := s.pool.Lookup(b); !ok {
			return
		}
	}
	_ = s.pool.Put(b) // a refusal is counted
}

// Made returns how many buffers were made by make because the pool had no room, or was
// closed.
func (s *slices) Made() int64 { return s.made.Load() }
