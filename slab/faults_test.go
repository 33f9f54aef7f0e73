package slab

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Call k of the upstream fails, for every k: the step gives a typed error or
// succeeds all the same, nothing that is active changes, the next step works,
// and in the end nothing is left.
func TestEveryFailureOfTheUpstreamIsSurvived(t *testing.T) {
	eachSubject(t, func(t *testing.T, steps int, open func(*testing.T, *pages) subject) {
		if raceEnabled || testing.Short() {
			steps = 200
		}
		for _, with := range []error{nil, errLost} {
			for k, calls := 1, 1; k <= calls; k++ {
				up := &pages{fake: fake{failAt: k, failWith: with, host: true}, rangeBytes: 256 << 10}
				r := newScript(t, 3, open(t, up), up)
				for range steps {
					r.step()
				}
				calls = up.calls
				r.end()
				if t.Failed() {
					t.Fatalf("with call %d failing as %v", k, with)
				}
			}
		}
	})
}

var errLost = errors.New("lost")

// A script allocates and frees at random, keeps contents, and compares the
// counters of its subject with its own.
type script struct {
	t     *testing.T
	rand  *rand.Rand
	s     subject
	up    *pages
	live  []scripted
	bytes int64
	next  byte
}

type scripted struct {
	m       []byte
	size    int
	release func()
	mark    byte
}

func newScript(t *testing.T, seed uint64, s subject, up *pages) *script {
	return &script{t: t, rand: rand.New(rand.NewPCG(seed, 4)), s: s, up: up}
}

func (r *script) step() {
	r.t.Helper()
	if n := len(r.live); n > 0 && r.rand.IntN(2) == 0 {
		r.free(r.rand.IntN(n))
	} else {
		r.alloc(1 + 37*r.rand.IntN(40))
	}
	r.check()
}

func (r *script) check() {
	r.t.Helper()
	u := r.s.usage()
	if u.ActiveBytes != r.bytes || u.ActiveBlocks != int64(len(r.live)) || u.ManagedBytes() != r.up.bytes ||
		u.RoundingBytes < 0 || u.HeldBytes < 0 || u.UnusableBytes < 0 {
		r.t.Fatalf("usage %+v, but %d bytes in %d blocks are out and %d upstream", u, r.bytes, len(r.live), r.up.bytes)
	}
	if r.s.whole && u.ActiveBlocks+u.HeldBlocks != int64(len(r.up.out)) {
		r.t.Fatalf("usage %+v of %d blocks", u, len(r.up.out))
	}
}

// free checks a block's contents and gives it back.
func (r *script) free(i int) {
	r.t.Helper()
	b, last := r.live[i], len(r.live)-1
	for _, v := range b.m {
		if v != b.mark {
			r.t.Fatalf("somebody wrote %d to a block of %d bytes filled with %d", v, b.size, b.mark)
		}
	}
	b.release()
	r.bytes -= int64(b.size)
	r.live[i] = r.live[last]
	r.live = r.live[:last]
}

func (r *script) alloc(size int) {
	r.t.Helper()
	if r.try(size) {
		return
	}
	r.check()
	if r.up.capacity == 0 && !r.try(size) {
		r.t.Fatal("the next call fails as well")
	}
}

// try reports whether there was room. An error has to be the one injected.
func (r *script) try(size int) bool {
	r.t.Helper()
	m, release, err := r.s.alloc(size)
	if err == nil {
		r.next++
		paint(m, r.next)
		r.live = append(r.live, scripted{m, size, release, r.next})
		r.bytes += int64(size)
		return true
	}
	if r.up.failWith != nil {
		if !errors.Is(err, r.up.failWith) {
			r.t.Fatalf("%v instead of %v", err, r.up.failWith)
		}
		return false
	}
	if !errors.Is(err, device.ErrOutOfMemory) || r.s.whole && r.s.usage().HeldBlocks != 0 {
		r.t.Fatalf("%v, with %+v", err, r.s.usage())
	}
	return false
}

func (r *script) end() {
	r.t.Helper()
	for len(r.live) > 0 {
		r.free(0)
		r.check()
	}
	r.s.stop()
	if r.check(); r.up.bytes != 0 || r.up.open != 0 || r.up.allocs < r.up.frees {
		r.t.Fatalf("%d bytes in %d ranges left", r.up.bytes, r.up.open)
	}
}

func TestNoOutOfMemoryWhileABlockIsHeld(t *testing.T) {
	eachSubject(t, func(t *testing.T, _ int, open func(*testing.T, *pages) subject) {
		for seed := range uint64(5) {
			up := &pages{fake: fake{capacity: 50_000, host: true}, rangeBytes: 256 << 10}
			r := newScript(t, seed, open(t, up), up)
			for range 1000 {
				r.step()
			}
			r.end()
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
