package soak

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

type soak struct {
	t       testing.TB
	escape  bool
	devices []string
	stacks  []slab.Config
	r       *rand.Rand
	*counts
}

func (s *soak) violation(name, format string, args ...any) {
	s.t.Helper()
	s.violations.Add(1)
	s.t.Errorf("round %d, %s: "+format, append([]any{s.rounds.Load(), name}, args...)...)
}

// round opens two pools on one Limit, lets four goroutines use them, closes them, and
// waits until all has come back.
func (s *soak) round(c slab.Config, steps int) {
	s.rounds.Add(1)
	d, err := device.Open(c.Device)
	if err != nil {
		s.t.Fatal(err)
	}
	below := upset(d, s.counts)
	limit := slab.NewLimit(below.View(), 64<<20)
	pools := []*slab.Pool{s.open(limit, c), s.open(limit, c)}
	m, err := probe(d)
	if err != nil {
		s.t.Fatal(err)
	}
	lost := s.quarantined.Load()
	r := &run{line: c.String(), memory: m, counts: s.counts, fickle: below, escape: s.escape,
		report: func(what string) { s.t.Errorf("round %d, %s: %s", s.rounds.Load(), c, what) }}
	r.let(4, pools, s.r.Uint64(), func(w *worker, i int) bool {
		if i > steps/4*9/10 && w.r.IntN(1000) == 0 {
			w.closed.Add(1)
			[]func(){w.pool.StopHolding, func() { w.pool.Close() }}[w.r.IntN(2)]()
		}
		return i <= steps/4
	})
	below.calm.Store(true)
	debug.SetMemoryLimit(math.MaxInt64)
	for _, p := range pools {
		p.Close()
	}
	s.awaitNothing(c.String(), pools, limit, m, s.quarantined.Load() > lost)
	if err := d.Close(); err != nil {
		s.violation(c.String(), "Close: %v", err)
	}
}

func (s *soak) open(limit *slab.Limit, c slab.Config) *slab.Pool {
	p, err := slab.Open(limit, c)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// awaitNothing waits until all forgotten buffers have been found, and nothing is left. A device
// that cannot take bytes out of use keeps those and the rest of their regions.
func (s *soak) awaitNothing(name string, pools []*slab.Pool, limit *slab.Limit, m memory, quarantine bool) {
	for i, p := range pools {
		if !collect(func() bool {
			p.FreeHeld()
			st := p.Stats()
			return st.ActiveBlocks == 0 && st.ActiveBytes == 0 &&
				(st.ManagedBytes == 0 || quarantine && !m.quarantines && st.UnusableBytes > 0)
		}) {
			s.violation(name, "pool %d is left with %+v", i, p.Stats())
		}
		if quarantine {
			s.left.Add(p.Stats().ManagedBytes)
		}
		runtime.KeepAlive(p)
	}
	managed := func() int64 { return pools[0].Stats().ManagedBytes + pools[1].Stats().ManagedBytes }
	if !collect(func() bool { return limit.InUse() == managed() }) { // no Free is on its way any more
		s.violation(name, "%d bytes of the limit in use, %d managed", limit.InUse(), managed())
	}
}

// collect runs the collector until done says so. A finalizer may be about to free what it
// has counted already, and a block may be on its way from a stream.
func collect(done func() bool) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if check.Cycle() && done() {
			return true
		}
	}
	return false
}
