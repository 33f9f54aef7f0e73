package soak

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A run is some goroutines on some pools.
type run struct {
	line string
	memory
	*counts
	clients
	fickle *fickle // nil if the device below the pools never fails
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

// counts are what all goroutines have done and seen.
type counts struct {
	rounds, steps, refused, forgotten, works, doubles, changes atomic.Int64
	outgrown                                                   atomic.Int64   // buffers of keys, at most
	taken                                                      []atomic.Int64 // by way
	failures, panics                                           atomic.Int64   // of devices
	closed, violations                                         atomic.Int64
	quarantined                                                atomic.Int64 // bytes whose slices escaped
	left                                                       atomic.Int64 // bytes that their pools have still
}

func countsOf(n int) *counts { return &counts{taken: make([]atomic.Int64, n)} }

func (c *counts) gets() (n int64) {
	for i := range c.taken {
		n += c.taken[i].Load()
	}
	return n
}

// let has the given number of workers use the pools in turns while there is more to do, and ends what they have
// handed over.
func (s *run) let(workers int, pools []*slab.Pool, seed uint64, more func(w *worker, i int) bool) {
	s.hand = make(chan owned, 64)
	var all sync.WaitGroup
	at := func(i int) *worker {
		return &worker{run: s, pool: pools[i%len(pools)], r: rand.New(rand.NewPCG(seed, uint64(i))),
			scratch: make([]byte, largest), id: uint64(i+1) << 48}
	}
	for i := range workers {
		all.Go(func() { at(i).whole(more) })
	}
	all.Wait()
	s.weather.end()
	close(s.hand)
	last := at(workers)
	last.openStream()
	for o := range s.hand {
		last.end(o)
	}
	last.closeStream()
}

// settle returns a function that sets back what weather changes.
func settle() func() {
	processors, percent, limit := runtime.GOMAXPROCS(0), debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
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
