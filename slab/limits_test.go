package slab

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/slab/internal/percpu"
)

// What Config allows to be held is all that a pool holds, caches included, and as well
// where many have released, each on a processor of its own.
func TestBoundsOfWhatIsHeldIncludeTheCaches(t *testing.T) {
	for _, strategy := range []string{"sizeclass", "bestfit", "slab"} {
		for _, held := range []int64{-1, 10_000, 1 << 20, 4 << 20} {
			for _, goroutines := range []int{1, 4} {
				p := openPool(t, "mmap", Config{Strategy: strategy, MaxHeld: held})
				var all sync.WaitGroup
				for g := range goroutines {
					all.Go(func() {
						var live [400]PooledBuffer
						for i := range live {
							live[i] = mustGet(t, p, 1+(i*37+g*11)%20_000)
						}
						releaseAll(t, live[:])
					})
				}
				all.Wait()
				if s := p.Stats(); s.HeldBytes > max(held, 0) {
					t.Errorf("%s, at most %d: %d bytes held", strategy, held, s.HeldBytes)
				}
				p.Close()
			}
		}
	}
}

// Blocks that are counted, or too large, are not cached either.
func TestBlocksThatAreNotToBeHeldAreNotCached(t *testing.T) {
	for c, sizes := range map[Config][]int{
		{MaxHeldBlocks: -1}:        {1000},
		{MaxBlockBytes: 100 << 10}: {100 << 10, 200 << 10}, // in blocks of 112 and 224 KiB
	} {
		c.Strategy = "sizeclass"
		p := openPool(t, "mmap", c)
		for _, n := range sizes {
			mustGet(t, p, n).Release()
		}
		if s := p.Stats(); s.HeldBlocks != 0 {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// In front of strategies that merge blocks the caches hold a share of what is managed for
// the asking. Bounds a processor, and what is earned beyond, are tested in package percpu.
func TestCachesHoldAShareOfWhatIsManaged(t *testing.T) {
	for _, c := range []Config{{Strategy: "slab", CacheBytes: 30_000}, {Strategy: "slab"}, {Strategy: "bestfit"}} {
		p := openPool(t, "mmap", c)
		places := int64(pin.Numbers() + 1) // with the depot
		var live []PooledBuffer
		for size := 100; size < 64<<10; size += size / 8 { // each class once or twice, which earns nothing
			live = append(live, mustGet(t, p, size))
		}
		releaseAll(t, live)
		n := p.pool.cache.Usage().Bytes
		limit := min(places*p.pool.config.CacheBytes, max(p.Stats().ManagedBytes/heapShare, places*percpu.LeastBytes))
		if n == 0 || n > limit {
			t.Errorf("%+v: %d bytes cached of %d", c, n, limit)
		}
	}
}

// A budget serves all that fits into it: where a block of the whole class does not, one
// of what was asked for does. It is not held afterwards, and the next one is.
func TestBudgetServesWhatFits(t *testing.T) {
	for _, s := range []string{"exact", "sizeclass", "bestfit", "slab"} {
		for _, size := range []int{99 << 20, 100 << 20} {
			p := openPool(t, "heap", Config{Strategy: s, MaxBytes: 100 << 20})
			mustGet(t, p, 30<<20).Release()
			mustGet(t, p, size).Release()
			checkNoneOut(t, p)
			mustGet(t, p, 30<<20).Release()
		}
	}
	p := openPool(t, "heap", Config{MaxBytes: 1000})
	mustGet(t, p, 1000).Release()
	q := openPool(t, "heap", Config{MaxBytes: 8 << 10, Align: 64})
	kept := mustGet(t, q, 8<<10)
	if _, err := q.Get(4); !errors.Is(err, device.ErrOutOfMemory) {
		t.Error("what is too small to be aligned was tried:", err)
	}
	kept.Release()
}

// A budget below what a region of the device has at least is a fault of the Config.
func TestBudgetWithoutRoomForABlock(t *testing.T) {
	for _, line := range []string{"device=mmap,max_bytes=1000", "device=mmap:fixed,max_bytes=1B", "max_bytes=1KiB,device=mmap,strategy=exact"} {
		var e *ConfigError
		if _, err := ParseConfig(line); !errors.As(err, &e) || !strings.Contains(err.Error(), "no block fits") {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := Open(openDevice(t, "mmap"), Config{MaxBytes: 1000}); err == nil {
		t.Error("Open took it")
	}
	if _, err := ParseConfig("device=mmap,max_bytes=64KiB"); err != nil {
		t.Error(err)
	}
}
