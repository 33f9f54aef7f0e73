package slab

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/budget"
)

// sharing are the ways in which a pool can stand on a shared Limit.
var sharing = map[string]func(l *Limit) (Allocator, Config){
	"itself":        func(l *Limit) (Allocator, Config) { return l, Config{} },
	"a budget over": func(l *Limit) (Allocator, Config) { return l, Config{MaxBytes: 1 << 30} },
	"counted":       func(l *Limit) (Allocator, Config) { return pass(l), Config{} },
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
		if l.budget.Members() != 2 {
			t.Errorf("%d sharers of two pools", l.budget.Members())
		}
		for _, p := range []*Pool{one, two} {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if l.budget.Members() != 0 || l.InUse() != 0 {
			t.Errorf("%d sharers and %d bytes after Close", l.budget.Members(), l.InUse())
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
				for range bounded(t, long(t, 100), 300*time.Millisecond) {
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

// Pools on one device give back for each other, as the device is a budget, too.
func TestPoolsOnOneDeviceGiveBackForEachOther(t *testing.T) {
	for _, s := range []string{"exact", "bitlog", "sizeclass", "bestfit", "slab"} {
		d := openDevice(t, "sim:10MiB")
		one, two := mustOpen(t, d, Config{Strategy: s}), mustOpen(t, d, Config{})
		mustGet(t, one, 7<<20).Release()
		if held := one.Stats().HeldBytes; held < 7<<20 {
			t.Fatalf("%s holds %d bytes", s, held)
		}
		mustGet(t, two, 9<<20).Release()
		if n := one.Stats().ManagedBytes; n != 0 {
			t.Errorf("%s: %d bytes managed still", s, n)
		}
		for _, p := range []*Pool{one, two} {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if budget.OfDevice(d) != nil {
			t.Errorf("%s: the device has sharers after Close", s)
		}
	}
}

// A keeper has released buffers of a pool and keeps them for reuse.
type keeper struct{ kept []PooledBuffer }

func (k *keeper) FreeHeld() {
	for _, b := range k.kept {
		b.Release()
	}
	k.kept = nil
}

// Who keeps buffers of a pool releases them when it, or a pool that shares its Limit or
// its device, has no room.
func TestKeepersReleaseForAGetWithoutRoom(t *testing.T) {
	d := openDevice(t, "sim:10MiB")
	one, two := mustOpen(t, d, Config{}), mustOpen(t, NewLimit(d, 10<<20), Config{})
	for _, p := range []*Pool{one, two} {
		k := &keeper{[]PooledBuffer{mustGet(t, one, 6<<20)}}
		one.AddReclaimer(k)
		mustGet(t, p, 6<<20).Release()
		if len(k.kept) != 0 {
			t.Error("nothing was released")
		}
		p.FreeHeld()
		one.RemoveReclaimer(k)
		k.kept = append(k.kept, mustGet(t, one, 6<<20))
		if _, err := p.Get(6 << 20); !errors.Is(err, device.ErrOutOfMemory) {
			t.Error("released after Unshare:", err)
		}
		k.FreeHeld()
		one.FreeHeld()
	}
}
