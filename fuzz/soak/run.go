package soak

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A run is some goroutines on some pools.
type run struct {
	line string
	memory
	*counts
	clients
	fickle *fickle // nil if the device below the pools never fails
	bound  int64   // max_bytes of the line
	escape bool    // slices of what is forgotten escape
	hand   chan owned
	report func(what string) // of what was wrong
	weather
}

// memory is what a device has.
type memory struct {
	dev         device.Device
	contents    bool // Copy moves bytes
	host        bool // the CPU reaches them
	collected   bool // the Go heap's: the collector sees them
	quarantines bool // bytes can be taken out of use; else memory stays whose slice may be in use
}

// clients are what the packages over a pool have of it.
type clients struct {
	keyed   *growpool.Pool[int]
	arrays  *unified.Pool
	devices *slab.Pool // of the device sides of arrays
	arrow   *adapt.ArrowAllocator
	grpc    *adapt.GRPCPool
	http    *adapt.HTTPPool
}

// weather is what a process lives through while its pools work.
type weather struct {
	mu        sync.Mutex // one change at a time
	profiling bool
}

func (s *run) violation(format string, args ...any) {
	s.violations.Add(1)
	s.report(fmt.Sprintf(format, args...))
}

func (s *run) must(what string, err error) {
	if err != nil {
		s.violation("%s: %v", what, err)
	}
}

// held is memory that a worker has, in one of the ways of a pool.
type held interface {
	// marked reports whether its bytes are those that its owner has written.
	marked(w *worker) bool
	// end gives it back.
	end(w *worker) error
}

// owned is what workers keep and hand to each other.
type owned struct {
	held
	way string
}

// A worker is one of the goroutines.
type worker struct {
	*run
	pool    *slab.Pool
	r       *rand.Rand
	stream  device.Stream // nil where there are no bytes
	live    []owned
	scratch []byte            // of no object with pointers, as C sees it
	views   [16]slice         // of buffers on the Go heap whose handle is forgotten
	dropped slab.PooledBuffer // the last one that is forgotten
	id      uint64            // of the buffer that was taken last; no two are equal
}

const (
	largest  = 1 << 18 // bytes of a buffer
	mostLive = 24      // buffers of a worker
	often    = 256     // steps between two changes of the weather
)

// A slice is bytes with the marks of an id.
type slice struct {
	m  []byte
	id uint64
}

func (s slice) marked(*worker) bool { return areMarks(s.m, s.id) }

// mark writes the marks of the current id to m, and returns m with it.
func (w *worker) mark(m []byte) slice {
	writeMarks(m, w.id)
	return slice{m, w.id}
}

// guarded lets a panic of a fickle device pass.
func (w *worker) guarded(f func()) {
	defer func() {
		if r := recover(); r != nil && r != isFickle {
			panic(r)
		}
	}()
	f()
}

// noRoom reports whether err says that there was no memory, which may happen at any time.
func (w *worker) noRoom(err error) bool {
	return errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, io.ErrShortBuffer) ||
		w.fickle != nil && (errors.Is(err, slab.ErrClosed) || errors.Is(err, device.ErrUnavailable))
}
