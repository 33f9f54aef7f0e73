package slab

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/strategy"
)

// A subject is what fault tests run on: a strategy by itself, or a Pool over it.
type subject struct {
	alloc func(size int) (m []byte, release func(), err error)
	usage func() Usage
	stop  func()
	whole bool // its blocks are those of the upstream
}

// eachSubject runs f on every strategy, alone and in a Pool with caches off
// and on, bestfit and slab over ranges and over segments. Steps is how long its script
// may be: short where each block is a call upstream.
func eachSubject(t *testing.T, f func(t *testing.T, steps int, open func(t *testing.T, up *pages) subject)) {
	for _, c := range []Config{
		{Strategy: "direct"}, {Strategy: "exact", MaxHeldBlocks: 20}, {Strategy: "bitlog", MaxHeldBlocks: 20}, {Strategy: "sizeclass"},
		{Strategy: "bestfit"}, {Strategy: "slab"}, {Strategy: "slab", MissTarget: 0.5},
	} {
		for _, fixed := range []bool{false, true} {
			ranges := c.Strategy == "bestfit" || c.Strategy == "slab"
			if !ranges && !fixed || c.MissTarget > 0 && fixed {
				continue
			}
			name := c.String()
			if ranges && fixed {
				name += ",segments"
			}
			steps := 1000
			if !ranges && c.Strategy != "sizeclass" { // each block is a call upstream
				steps = 200
			}
			t.Run(name, func(t *testing.T) {
				f(t, steps, func(t *testing.T, up *pages) subject {
					return strategySubject(strategyOn(c.Strategy, onRanges(up, !fixed), c))
				})
			})
			off := c
			off.CacheBytes = -1
			t.Run("pool,"+name, func(t *testing.T) {
				f(t, steps, func(t *testing.T, up *pages) subject { return poolSubject(t, onRanges(up, !fixed), off) })
			})
			if c.withDefaults().CacheBytes > 0 {
				t.Run("cached,"+name, func(t *testing.T) {
					f(t, steps, func(t *testing.T, up *pages) subject { return poolSubject(t, onRanges(up, !fixed), c) })
				})
			}
		}
	}
}

func strategySubject(s Allocator) subject {
	_, extents := s.(numbered)
	_, classes := s.(*strategy.Sizeclass)
	return subject{
		alloc: func(size int) ([]byte, func(), error) {
			b, err := s.Alloc(size)
			if err != nil {
				return nil, nil, err
			}
			return device.Bytes(b), func() { s.Free(b) }, nil
		},
		usage: s.(UsageReporter).Usage,
		stop: func() {
			if h, ok := s.(Holder); ok {
				h.StopHolding()
			}
		},
		whole: !extents && !classes,
	}
}

func poolSubject(t *testing.T, up Allocator, c Config) subject {
	return subjectOf(t, mustOpen(t, up, c))
}

func subjectOf(t *testing.T, p *Pool) subject {
	return subject{
		alloc: func(size int) ([]byte, func(), error) {
			b, err := p.Get(size)
			if err != nil {
				return nil, nil, err
			}
			return b.Bytes(), func() { mustRelease(t, b) }, nil
		},
		usage: func() Usage {
			s := p.Stats()
			return Usage{
				ActiveBlocks: s.ActiveBlocks, HeldBlocks: s.HeldBlocks, ActiveBytes: s.ActiveBytes,
				RoundingBytes: s.RoundingBytes, HeldBytes: s.HeldBytes, UnusableBytes: s.UnusableBytes,
			}
		},
		stop: p.StopHolding,
	}
}

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
	if u.ActiveBytes != r.bytes || u.ActiveBlocks != int64(len(r.live)) || u.ManagedBytes() != r.up.Bytes ||
		u.RoundingBytes < 0 || u.HeldBytes < 0 || u.UnusableBytes < 0 {
		r.t.Fatalf("usage %+v, but %d bytes in %d blocks are out and %d upstream", u, r.bytes, len(r.live), r.up.Bytes)
	}
	if r.s.whole && u.ActiveBlocks+u.HeldBlocks != r.up.Out() {
		r.t.Fatalf("usage %+v of %d blocks", u, r.up.Out())
	}
}

// free checks a block's contents and gives it back.
func (r *script) free(i int) {
	r.t.Helper()
	b := takeAt(&r.live, i)
	for _, v := range b.m {
		if v != b.mark {
			r.t.Fatalf("somebody wrote %d to a block of %d bytes filled with %d", v, b.size, b.mark)
		}
	}
	b.release()
	r.bytes -= int64(b.size)
}

func (r *script) alloc(size int) {
	r.t.Helper()
	if r.try(size) {
		return
	}
	r.check()
	if r.up.Capacity == 0 && !r.try(size) {
		r.t.Fatal("the next call fails as well")
	}
}

// try reports whether there was room. An error has to be the one injected.
func (r *script) try(size int) bool {
	r.t.Helper()
	m, release, err := r.s.alloc(size)
	if err == nil {
		r.next++
		device.Fill(m, r.next)
		r.live = append(r.live, scripted{m, size, release, r.next})
		r.bytes += int64(size)
		return true
	}
	if r.up.FailWith != nil {
		if !errors.Is(err, r.up.FailWith) {
			r.t.Fatalf("%v instead of %v", err, r.up.FailWith)
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
	if r.check(); r.up.Bytes != 0 || r.up.Open != 0 || r.up.Allocs < r.up.Frees {
		r.t.Fatalf("%d bytes in %d ranges left", r.up.Bytes, r.up.Open)
	}
}
