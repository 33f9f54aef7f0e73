package soak

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// round opens two pools on one Limit, lets four goroutines use them, closes them, and
// waits until all has come back.
func (s *soak) round(c slab.Config, steps int) {
	s.rounds.Add(1)
	d, err := device.Open(c.Device)
	if err != nil {
		s.t.Fatal(err)
	}
	below := upset(d, &s.counts)
	limit := slab.NewLimit(below.View(), 64<<20)
	pools := []*slab.Pool{s.open(limit, c), s.open(limit, c)}
	m := s.probe(d)
	lost := s.quarantined.Load()
	var all sync.WaitGroup
	for g := range 4 {
		w := &worker{soak: s, name: c.String(), p: pools[g%2], r: rand.New(rand.NewPCG(s.r.Uint64(), uint64(g))), memory: m}
		all.Go(func() { w.run(steps / 4) })
	}
	all.Wait()
	below.calm.Store(true)
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
			return st.ActiveBlocks == 0 && st.ActiveBytes == 0 && (st.ManagedBytes == 0 || quarantine && !m.quarantines && st.UnusableBytes > 0)
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
