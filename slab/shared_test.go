package slab

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
)

// sharing are the ways in which a pool can stand on a shared Limit.
var sharing = map[string]func(l *Limit) (Allocator, Config){
	"itself":        func(l *Limit) (Allocator, Config) { return l, Config{} },
	"a budget over": func(l *Limit) (Allocator, Config) { return l, Config{MaxBytes: 1 << 30} },
	"counted":       func(l *Limit) (Allocator, Config) { return NewStatistics(l), Config{} },
}

func eachSharing(t *testing.T, f func(t *testing.T, l *Limit, open func() *Pool)) {
	for name, up := range sharing {
		for _, s := range []string{"exact", "bitlog", "sizeclass", "bestfit", "slab"} {
			t.Run(name+","+s, func(t *testing.T) {
				l := NewLimit(openDevice(t, "mmap"), 1<<20)
				f(t, l, func() *Pool {
					a, c := up(l)
					c.Strategy, c.Device = s, "mmap"
					return mustOpen(t, a, c)
				})
			})
		}
	}
}

func TestPoolsOnOneLimitGiveBackForEachOther(t *testing.T) {
	eachSharing(t, func(t *testing.T, l *Limit, open func() *Pool) {
		one, two := open(), open()
		for range 10 {
			for _, p := range []*Pool{one, two} {
				mustGet(t, p, 700<<10).Release()
			}
		}
		mustGet(t, one, 20<<10).Release() // this one lies in caches
		mustGet(t, two, 1020<<10)
		if n := one.Stats().ManagedBytes; n != 0 || l.InUse() > 1<<20 {
			t.Errorf("%d bytes managed still, %d in use", n, l.InUse())
		}
	})
}

func TestCloseUnshares(t *testing.T) {
	eachSharing(t, func(t *testing.T, l *Limit, open func() *Pool) {
		one, two := open(), open()
		if len(l.sharers) != 2 {
			t.Errorf("%d sharers of two pools", len(l.sharers))
		}
		for _, p := range []*Pool{one, two} {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(l.sharers) != 0 || l.InUse() != 0 {
			t.Errorf("%d sharers and %d bytes after Close", len(l.sharers), l.InUse())
		}
	})
}

// Pools that empty each other at the same time do not wait for each other.
func TestConcurrentPoolsOnOneLimit(t *testing.T) {
	eachSharing(t, func(t *testing.T, l *Limit, open func() *Pool) {
		pools := []*Pool{open(), open()}
		var all sync.WaitGroup
		for g := range uint64(4) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(g, 3))
				for range bounded(t, long(t, 300), 300*time.Millisecond) {
					b, err := pools[g%2].Get(1 + r.IntN(400<<10))
					if errors.Is(err, device.ErrOutOfMemory) {
						continue
					} else if err != nil {
						t.Error(err)
					}
					b.Bytes()[0] = 1
					mustRelease(t, b)
				}
			})
		}
		all.Wait()
		for _, p := range pools {
			checkQuiet(t, p)
			p.Close()
		}
		if l.InUse() != 0 {
			t.Errorf("%d bytes in use", l.InUse())
		}
	})
}
