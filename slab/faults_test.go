package slab

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// 1,000 steps over 40 sizes. Call k of the upstream is out of memory: the
// error is typed, nothing that is active changes, and the next step works.
func TestEveryFailureOfTheUpstreamIsSurvived(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		for k, calls := 1, 1; k <= calls; k++ {
			up := &fake{failAt: k}
			r := script{t: t, rand: rand.New(rand.NewPCG(3, 4)), s: open(up, Config{MaxHeldBlocks: 20})}
			for range 1000 {
				r.step(up)
			}
			calls = up.calls
		}
	})
}

// A script allocates and frees at random and compares the counters of a
// strategy with its own.
type script struct {
	t     *testing.T
	rand  *rand.Rand
	s     testStrategy
	live  []device.Block
	bytes int64
}

func (r *script) step(up *fake) {
	r.t.Helper()
	if n := len(r.live); n > 0 && r.rand.IntN(2) == 0 {
		i := r.rand.IntN(n)
		r.s.Free(r.live[i])
		r.bytes -= int64(r.live[i].Len)
		r.live[i] = r.live[n-1]
		r.live = r.live[:n-1]
	} else {
		r.alloc(1+37*r.rand.IntN(40), up)
	}
	checkUsage(r.t, r.s, up)
	if u := r.s.Usage(); u.ActiveBytes != r.bytes || u.ActiveBlocks != int64(len(r.live)) {
		r.t.Fatalf("usage %+v, but %d bytes in %d blocks are out", u, r.bytes, len(r.live))
	}
}

func (r *script) alloc(size int, up *fake) {
	r.t.Helper()
	b, err := r.s.Alloc(size)
	if err == nil {
		r.live = append(r.live, b)
		r.bytes += int64(size)
		return
	}
	if u := r.s.Usage(); !errors.Is(err, device.ErrOutOfMemory) || u.HeldBlocks != 0 {
		r.t.Fatalf("%v with %d blocks held", err, u.HeldBlocks)
	}
	if up.capacity == 0 {
		r.live = append(r.live, mustAlloc(r.t, r.s, size)) // the next call works
		r.bytes += int64(size)
	}
}

func TestNoOutOfMemoryWhileABlockIsHeld(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		for seed := range uint64(20) {
			up := &fake{capacity: 10000}
			r := script{t: t, rand: rand.New(rand.NewPCG(seed, 5)), s: open(up, Config{})}
			for range 2000 {
				r.step(up)
			}
		}
	})
}

func TestStrategiesAreSafeForConcurrentUse(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		up := &fake{capacity: 1 << 16}
		s := open(up, Config{MaxHeld: 1 << 14})
		var all sync.WaitGroup
		for g := range uint64(4) {
			all.Go(func() { churn(s, rand.New(rand.NewPCG(g, 0))) })
		}
		all.Wait()
		if s.Usage().ActiveBlocks != 0 {
			t.Errorf("usage %+v after everything was freed", s.Usage())
		}
		checkUsage(t, s, up)
	})
}

// churn keeps up to ten blocks out and frees them in the end. Now and then it
// calls the methods that few strategies have.
func churn(s testStrategy, r *rand.Rand) {
	var live []device.Block
	for range 3000 {
		if b, err := s.Alloc(1 + r.IntN(5000)); err == nil {
			live = append(live, b)
		}
		if len(live) == 10 || r.IntN(2) == 0 && len(live) > 0 {
			s.Free(live[0])
			live = live[1:]
		}
		if k, ok := s.(testKeeper); ok && r.IntN(100) == 0 {
			k.Trim(r.IntN(2))
			k.FreeHeld()
		}
		s.Usage()
	}
	for _, b := range live {
		s.Free(b)
	}
}
