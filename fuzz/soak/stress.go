package soak

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A Result is what a line has come to.
type Result struct {
	line string
	*counts
	Wrong []string // what was wrong: the first of the violations
}

func (r Result) String() string {
	s := fmt.Sprintf("%-58s %9d steps, %7d without room, %6d forgotten, %5d changes, %d violations",
		r.line, r.steps.Load(), r.refused.Load(), r.forgotten.Load(), r.changes.Load(), r.violations.Load())
	for _, w := range r.Wrong {
		s += "\n\t" + w
	}
	return s
}

// mostWrong bounds how many violations of a line are printed.
const mostWrong = 10

// Line lets workers use a pool of the line in every way for so long, and then compares its figures with
// what they have counted. The error is that of a line with which there is no pool.
func Line(line string, length time.Duration, workers int, seed uint64) (Result, error) {
	c, err := slab.ParseConfig(line)
	if err != nil {
		return Result{}, err
	}
	c.Logger = quiet
	p, err := slab.OpenConfig(c)
	if err != nil {
		return Result{}, err
	}
	defer p.Close()
	defer settle()()
	r := Result{line: line, counts: countsOf(len(ways))}
	var mu sync.Mutex
	s := &run{line: line, counts: r.counts, report: func(what string) {
		mu.Lock()
		defer mu.Unlock()
		if len(r.Wrong) < mostWrong {
			r.Wrong = append(r.Wrong, what)
		}
	}}
	if err := s.open(p); err != nil {
		return Result{}, err
	}
	end := time.Now().Add(length)
	s.let(workers, []*slab.Pool{p}, seed, func(_ *worker, i int) bool { return i%often != 0 || time.Now().Before(end) })
	s.close(p)
	return r, nil
}

func (s *run) open(p *slab.Pool) error {
	b, err := p.Get(64 << 10)
	if err != nil {
		return err
	}
	s.memory, s.bound = memoryOf(b.Block()), p.Stats().MaxBytes
	s.keyed = growpool.New[int](p, growpool.Config{Private: true})
	if s.devices, err = slab.OpenConfig(slab.Config{Device: "sim:256MiB", Logger: quiet}); err != nil {
		return errors.Join(err, b.Release())
	}
	s.arrays = unified.NewPoolOn(p, s.devices, unified.PoolConfig{})
	s.arrow, s.grpc, s.http = adapt.Arrow(p), adapt.GRPC(p), adapt.HTTP(p, 32<<10)
	return b.Release()
}

// close holds the pool's figures against what was counted.
func (s *run) close(p *slab.Pool) {
	s.arrays.Clear()
	s.must("SetMaxBytes", p.SetMaxBytes(s.bound))
	s.must("Close of a growpool", s.keyed.Close())
	s.must("Close of the devices' pool", s.devices.Close())
	s.collect(p)
	st := p.Stats()
	if st.ActiveBlocks+st.OverflowBlocks != 0 || st.ActiveBytes != 0 {
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
	s.must("Close", p.Close()) // which names what is out
	if n := p.Stats().ManagedBytes; n != 0 && (s.quarantines || s.collected) {
		s.violation("the closed pool manages %d bytes", n)
	}
}

// collect runs the collector until what was forgotten has come back. A region may wait for another
// one, and so for another collection.
func (s *run) collect(p *slab.Pool) {
	debug.SetMemoryLimit(1 << 62)
	for range 50 {
		st := p.Stats()
		if st.ActiveBlocks+st.OverflowBlocks == 0 && st.Forgotten >= s.forgotten.Load() {
			return
		}
		gcwatch.Collect(func() int64 { return p.Stats().Forgotten })
		p.FreeHeld()
	}
}
