package adapt

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/slab"
)

// slices hands out buffers to callers that take no error.
type slices struct {
	pool     *slab.Pool
	patience time.Duration // how long a call waits for room
	made     atomic.Int64  // slices, as the pool gave none
}

// open sets the pool and the options. It panics if p has no memory that the CPU can reach. It asks
// for a buffer: it cannot tell for a pool that is closed or has no room.
func (s *slices) open(p *slab.Pool, options []Option) {
	b, err := p.GetBytes(1)
	switch {
	case err == nil:
		_ = p.Put(b)
	case errors.Is(err, device.ErrUnavailable):
		panic(fmt.Errorf("adapt: %w", err))
	}
	s.pool = p
	for _, o := range options {
		o(s)
	}
}

// get returns size bytes, made if the pool has none.
func (s *slices) get(size int) []byte {
	b, err := s.ask(size)
	if err != nil {
		b = s.make(size)
	}
	return b
}

// make returns size bytes that are none of the pool's memory. The pool counts them as overflow, unless
// it is closed.
func (s *slices) make(size int) []byte {
	b := inside.Made(s.pool, size)
	if b == nil {
		b = make([]byte, size) // panics for a negative size, which does not count
	}
	s.made.Add(1)
	return b
}

// put gives a slice back. A closed pool does not know slices that were made since, and they must not
// look like mistakes of the caller. So once there is a made slice, put does not count unknown ones.
func (s *slices) put(b []byte) {
	if s.made.Load() > 0 {
		if _, ok := s.pool.Lookup(b); !ok {
			return
		}
	}
	_ = s.pool.Put(b) // a refusal is counted
}

// Made returns how many buffers were made because the pool had no room, or was closed. Those that are
// out now are in [slab.Stats].OverflowBlocks and OverflowBytes.
func (s *slices) Made() int64 { return s.made.Load() }
