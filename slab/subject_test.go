package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A subject is what fault tests run on: a strategy by itself, or a Pool over it.
type subject struct {
	alloc func(size int) (m []byte, release func(), err error)
	usage func() Usage
	stop  func()
	whole bool // its blocks are those of the upstream
}

// eachSubject runs f on every strategy, alone and in a Pool with caches off
// and on, bestfit and slab over ranges and over segments. Steps is how long its script may be:
// shorter in Pools where it would take seconds.
func eachSubject(t *testing.T, f func(t *testing.T, steps int, open func(t *testing.T, up *pages) subject)) {
	for _, c := range []Config{
		{Strategy: "direct"}, {Strategy: "exact", MaxHeldBlocks: 20}, {Strategy: "bitlog", MaxHeldBlocks: 20}, {Strategy: "sizeclass"},
		{Strategy: "bestfit"}, {Strategy: "slab"}, {Strategy: "slab", Decommit: true, MissTarget: 0.5},
	} {
		for _, fixed := range []bool{false, true} {
			ranges := c.Strategy == "bestfit" || c.Strategy == "slab"
			if !ranges && !fixed || c.Decommit && fixed {
				continue
			}
			name := c.String()
			if ranges && fixed {
				name += ",segments"
			}
			steps := 1000
			if !ranges && c.Strategy != "sizeclass" { // each block is a call upstream
				steps = 400
			}
			on := func(up *pages) Allocator {
				if fixed {
					return &up.fake
				}
				return up
			}
			t.Run(name, func(t *testing.T) {
				f(t, 1000, func(t *testing.T, up *pages) subject { return strategySubject(newStrategy(on(up), c.withDefaults())) })
			})
			off := c
			off.CacheBytes = -1
			t.Run("pool,"+name, func(t *testing.T) {
				f(t, steps, func(t *testing.T, up *pages) subject { return poolSubject(t, on(up), off) })
			})
			if c.withDefaults().CacheBytes > 0 {
				t.Run("cached,"+name, func(t *testing.T) {
					f(t, steps, func(t *testing.T, up *pages) subject { return poolSubject(t, on(up), c) })
				})
			}
		}
	}
}

func strategySubject(s Allocator) subject {
	_, arena := s.(interface{ settle() })
	_, classes := s.(*Sizeclass)
	return subject{
		alloc: func(size int) ([]byte, func(), error) {
			b, err := s.Alloc(size)
			if err != nil {
				return nil, nil, err
			}
			return device.Bytes(b), func() { s.Free(b) }, nil
		},
		usage: s.(User).Usage,
		stop: func() {
			if h, ok := s.(Holder); ok {
				h.StopHolding()
			}
		},
		whole: !arena && !classes,
	}
}

func poolSubject(t *testing.T, up Allocator, c Config) subject {
	p, err := Open(up, c)
	if err != nil {
		t.Fatal(err)
	}
	return subject{
		alloc: func(size int) ([]byte, func(), error) {
			b, err := p.Get(size)
			if err != nil {
				return nil, nil, err
			}
			return b.Bytes(), func() {
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}, nil
		},
		usage: func() Usage {
			s := p.Stats()
			return Usage{s.ActiveBlocks, s.HeldBlocks, s.ActiveBytes, s.RoundingBytes, s.HeldBytes, s.UnusableBytes}
		},
		stop: p.StopHolding,
	}
}
