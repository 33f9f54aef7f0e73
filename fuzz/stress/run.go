package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A stress is one line under way.
type stress struct {
	line      string
	pool      *slab.Pool
	collected bool // the collector sees the memory
	takesOut  bool // bytes can be taken out of use; else memory stays whose slice may be in use
	keyed     *growpool.Pool[int]
	arrays    *unified.Pool
	devices   *slab.Pool // of the device sides of arrays
	arrow     *adapt.ArrowAllocator
	grpc      *adapt.GRPCPool
	http      *adapt.HTTPPool
	hand      chan owned
	weather   weather
	counts

	mu    sync.Mutex
	wrong []string
}

// counts are of all workers.
type counts struct {
	steps, refused, forgotten, doubles, changes, violations atomic.Int64
	outgrown                                                atomic.Int64   // buffers of keys, at most
	taken                                                   []atomic.Int64 // by way
}

// A result is what a line has come to.
type result struct {
	line                              string
	steps, refused, forgotten, change int64
	taken                             []int64 // by way
	violations                        int64
	wrong                             []string // the first of them
}

func (r result) String() string {
	s := fmt.Sprintf("%-58s %9d steps, %7d without room, %6d forgotten, %5d changes, %d violations",
		r.line, r.steps, r.refused, r.forgotten, r.change, r.violations)
	for _, w := range r.wrong {
		s += "\n\t" + w
	}
	return s
}

// mostWrong bounds how many violations of a line are printed.
const mostWrong = 10

func (s *stress) violation(format string, args ...any) {
	s.violations.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < mostWrong {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

// run lets the workers use a pool of the line for so long. The error is that of a line with which
// there is no pool.
func run(line string, length time.Duration, workers int, seed uint64) (result, error) {
	c, err := slab.ParseConfig(line)
	if err != nil {
		return result{}, err
	}
	c.Logger = quiet
	p, err := slab.OpenConfig(c)
	if err != nil {
		return result{}, err
	}
	defer p.Close()
	defer settle()()
	s := &stress{line: line, pool: p, hand: make(chan owned, 64), counts: counts{taken: make([]atomic.Int64, len(ways))}}
	if err := s.open(); err != nil {
		return result{}, err
	}
	end := time.Now().Add(length)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			w := &worker{stress: s, r: rand.New(rand.NewPCG(seed, uint64(i))), id: uint64(i+1) << 48}
			w.run(end)
		})
	}
	wg.Wait()
	s.close()
	return s.result(), nil
}

// settle returns a function that sets back what weather changes.
func settle() func() {
	processors, percent, limit := runtime.GOMAXPROCS(0), debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

func (s *stress) open() error {
	b, err := s.pool.Get(64 << 10)
	if err != nil {
		return err
	}
	_, s.collected = b.Block().Region.(device.Collected)
	_, s.takesOut = b.Block().Region.(device.Quarantiner)
	s.keyed = growpool.New[int](s.pool, growpool.Config{Private: true})
	if s.devices, err = slab.OpenConfig(slab.Config{Device: "sim:256MiB", Logger: quiet}); err != nil {
		return errors.Join(err, b.Release())
	}
	s.arrays = unified.NewPoolOn(s.pool, s.devices, unified.PoolConfig{})
	s.arrow, s.grpc, s.http = adapt.Arrow(s.pool), adapt.GRPC(s.pool), adapt.HTTP(s.pool, 32<<10)
	return b.Release()
}

// close ends what is still handed over, and holds the pool's figures against what was counted.
func (s *stress) close() {
	s.weather.end()
	close(s.hand)
	w := &worker{stress: s, r: rand.New(rand.NewPCG(0, 0))}
	for o := range s.hand {
		w.end(o)
	}
	s.arrays.Clear()
	s.must("Close of a growpool", s.keyed.Close())
	s.must("Close of the devices' pool", s.devices.Close())
	s.collect()
	st := s.pool.Stats()
	if st.ActiveBlocks != 0 || st.ActiveBytes != 0 {
		s.violation("%d buffers of %d bytes are out at the end", st.ActiveBlocks, st.ActiveBytes)
	}
	if sum := st.ActiveBytes + st.RoundingBytes + st.HeldBytes + st.UnusableBytes; sum != st.ManagedBytes {
		s.violation("%d bytes are managed, and their parts add up to %d", st.ManagedBytes, sum)
	}
	if n, more := s.forgotten.Load(), s.outgrown.Load(); st.Forgotten < n || st.Forgotten > n+more {
		s.violation("%d buffers were forgotten, and at most %d outgrown, and %d were found", n, more, st.Forgotten)
	}
	if n := s.doubles.Load(); st.DoubleReleases != n {
		s.violation("%d double releases, and %d were counted", n, st.DoubleReleases)
	}
	s.must("Close", s.pool.Close()) // which names what is out
	if n := s.pool.Stats().ManagedBytes; n != 0 && (s.takesOut || s.collected) {
		s.violation("the closed pool manages %d bytes", n)
	}
}

// collect runs the collector until what was forgotten has come back. A region may wait for another
// one, and so for another collection.
func (s *stress) collect() {
	debug.SetMemoryLimit(1 << 62)
	for range 50 {
		st := s.pool.Stats()
		if st.ActiveBlocks == 0 && st.Forgotten >= s.forgotten.Load() {
			return
		}
		gcwatch.Collect(func() int64 { return s.pool.Stats().Forgotten })
		s.pool.FreeHeld()
	}
}

func (s *stress) must(what string, err error) {
	if err != nil {
		s.violation("%s: %v", what, err)
	}
}

func (s *stress) result() result {
	r := result{
		line: s.line, steps: s.steps.Load(), refused: s.refused.Load(), forgotten: s.forgotten.Load(),
		change: s.changes.Load(), violations: s.violations.Load(), wrong: s.wrong,
	}
	for i := range s.taken {
		r.taken = append(r.taken, s.taken[i].Load())
	}
	return r
}

// noRoom reports whether err says that there was no memory, which may happen at any time.
func noRoom(err error) bool {
	return errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, io.ErrShortBuffer)
}
