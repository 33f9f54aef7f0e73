package slab

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/internal/replaying"
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

// A block in a cache keeps its slab, and so what others have released of it. Where that is
// more than may be held the caches are emptied.
func TestCachesKeepNoSlabsBeyondWhatMayBeHeld(t *testing.T) {
	held := 4 * int64(pin.Numbers()+1) * percpu.LeastBytes // the least with caches
	p := openPool(t, "mmap", Config{Strategy: "sizeclass", MaxHeld: held})
	var live []PooledBuffer
	first := map[device.Region]PooledBuffer{} // of each slab
	for range 8 << 10 {
		b := mustGet(t, p, 1000)
		if r := b.Block().Region; first[r] == (PooledBuffer{}) {
			first[r] = b
		} else {
			live = append(live, b)
		}
	}
	for _, b := range first {
		mustRelease(t, b)
	}
	releaseAll(t, live)
	if s := p.Stats(); s.HeldBytes > held {
		t.Errorf("%d bytes are held, more than %d", s.HeldBytes, held)
	}
	p.Close()
}

// While the strategy holds more than its part of what may be held nothing is cached, not for
// a moment: a block in a cache would keep the rest of its slab.
func TestNothingIsCachedWhereTooMuchIsHeld(t *testing.T) {
	for _, over := range []bool{false, true} {
		p := openPool(t, "mmap", Config{Strategy: "sizeclass", MaxHeld: 4 * int64(pin.Numbers()+1) * percpu.LeastBytes})
		b := mustGet(t, p, 1000)
		if usageOf(p.pool.strategy, 0).HeldBytes < 2 {
			t.Fatal("nothing is left of the slab")
		}
		if over {
			p.pool.held.bytes = 1
		}
		p.pool.reclaimMu.Lock() // so the caches cannot be emptied
		done := make(chan error, 1)
		go func() { done <- b.Release() }()
		cached := func() bool { return p.pool.cache.Usage().Blocks > 0 }
		eventually(t, "the block is somewhere", func() bool { return len(done) > 0 || cached() })
		if cached() == over {
			t.Errorf("over %t: cached %t", over, cached())
		}
		p.pool.reclaimMu.Unlock()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A Trim that takes idle blocks out of the caches takes all where the strategy then has more
// than its part.
func TestTrimLeavesTheStrategyItsPart(t *testing.T) {
	for _, over := range []bool{false, true} {
		p := openPool(t, "mmap", Config{Strategy: "sizeclass", MaxHeld: 16 * percpu.LeastBytes})
		if _, err := replaying.Reopen(p, 1); err != nil {
			t.Fatal(err)
		}
		idle, used := mustGet(t, p, 1000), mustGet(t, p, 2000)
		live := []PooledBuffer{mustGet(t, p, 1000), mustGet(t, p, 2000)} // of the same slabs
		mustRelease(t, idle)
		mustRelease(t, used)
		p.Trim(1)
		mustRelease(t, mustGet(t, p, 2000))
		if over {
			p.pool.held.bytes = usageOf(p.pool.strategy, 0).HeldBytes
		}
		before := p.pool.cache.Usage().Blocks
		p.Trim(1)
		if n := p.pool.cache.Usage().Blocks; before != 2 || n != 1 != over {
			t.Errorf("over %v: of %d blocks in caches Trim has left %d", over, before, n)
		}
		releaseAll(t, live)
		p.Close()
	}
}

// Blocks that are counted, or too large, are not cached either, nor kept in a slab that is empty.
func TestBlocksThatAreNotToBeHeldAreNotCached(t *testing.T) {
	for c, sizes := range map[Config][]int{
		{MaxHeldBlocks: -1}:        {1000},
		{MaxBlockBytes: 100 << 10}: {100 << 10, 200 << 10}, // in blocks of 112 and 224 KiB
		{MaxBlockBytes: 1000}:      {1000, 2000, 32 << 10},
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
		limit := min(places*p.pool.config.CacheBytes, max(p.Stats().ManagedBytes/cacheShare, places*percpu.LeastBytes))
		if n == 0 || n > limit {
			t.Errorf("%+v: %d bytes cached of %d", c, n, limit)
		}
	}
}

// What one processor has released another finds: its caches hold a part of it for the asking.
func TestOneProcessorLeavesBlocksForOthers(t *testing.T) {
	p := openPool(t, "heap", Config{})
	m, err := reopen(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	var live []PooledBuffer
	for range 96 {
		live = append(live, mustGet(t, p, 1<<20))
	}
	releaseAll(t, live)
	calls := p.Stats().UpstreamAllocs
	m.RunOn(1)
	for i := range live[:63] {
		live[i] = mustGet(t, p, 1<<20)
	}
	if n := p.Stats().UpstreamAllocs - calls; n != 0 {
		t.Errorf("%d calls upstream for 63 blocks, though another processor may keep but 32 of 96", n)
	}
	releaseAll(t, live[:63])
}

// A budget serves all that fits into it: where a block of the whole class does not, one
// of what was asked for does. It is not held afterwards, and the next one is.
func TestBudgetServesWhatFits(t *testing.T) {
	unit := 1 << 20
	if strconv.IntSize == 32 { // the Go heap has no room for it there
		unit = 64 << 10
	}
	for _, s := range []string{"exact", "sizeclass", "bestfit", "slab"} {
		for _, size := range []int{99 * unit, 100 * unit} {
			p := openPool(t, "heap", Config{Strategy: s, MaxBytes: int64(100 * unit)})
			mustGet(t, p, 30*unit).Release()
			mustGet(t, p, size).Release()
			b, err := p.GetContext(t.Context(), size)
			if err != nil {
				t.Fatal(s, err)
			}
			mustRelease(t, b)
			checkNoneOut(t, p)
			mustGet(t, p, 30*unit).Release()
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

// It serves a call that waits, too, which takes fewer steps at its turn.
func TestABudgetServesWhatFitsToACallThatWaits(t *testing.T) {
	for _, s := range []string{"sizeclass", "bestfit", "slab"} {
		synctest.Test(t, func(t *testing.T) {
			p := openPool(t, "virtual", Config{Strategy: s, MaxBytes: 100 << 10})
			b := mustGet(t, p, 30<<10)
			c := getInBubble(t, p, 99<<10)
			mustRelease(t, b)
			r := <-c
			if r.err != nil {
				t.Fatal(s, r.err)
			}
			mustRelease(t, r.b)
			checkNoneOut(t, p)
		})
	}
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
	for _, line := range []string{"device=mmap,max_bytes=64KiB", fmt.Sprintf("device=mmap,max_bytes=%dB", os.Getpagesize())} {
		if _, err := ParseConfig(line); err != nil {
			t.Error(err)
		}
	}
}

// The caches of all processors and the depot have a quarter of Config.MaxHeld together.
func TestCachesHaveAQuarterOfWhatMayBeHeld(t *testing.T) {
	o := cacheOptions(Config{Strategy: "sizeclass", Steps: 4, CacheBytes: 1 << 40, MaxHeld: 64 << 20}, 3)
	if all := 3*o.Bytes + o.Depot; all != 16<<20 {
		t.Errorf("%d bytes: %+v", all, o)
	}
	o.Processors = 3
	if rest := heldBelow(o, 64<<20); rest != 48<<20 {
		t.Errorf("%d bytes are left for the strategy", rest)
	}
}

// Where too little may be held for a cache there is none. The largest block that is cached is one of a class, and no
// larger than any that may be held.
func TestCachesOfLittle(t *testing.T) {
	for c, want := range map[Config]int{
		{}: cachedLimit, {MaxBlockBytes: 1 << 30}: cachedLimit, {MaxHeld: 1 << 30}: cachedLimit,
		{MaxBlockBytes: 100}: 96, {MaxBlockBytes: 112}: 112, {MaxBlockBytes: 31}: 16, {MaxBlockBytes: 16}: 16, {MaxBlockBytes: 15}: 0, {MaxBlockBytes: 1}: 0,
		{MaxHeld: 1}: 0, {MaxHeld: -1}: 0, {MaxHeldBlocks: -1}: 0, {Check: true}: 0, {CacheBytes: -1}: 0,
	} {
		c.Strategy, c.Steps, c.Align = "sizeclass", 4, 16
		if c.CacheBytes == 0 {
			c.CacheBytes = 1 << 20
		}
		if o := cacheOptions(c, 2); o.Largest != want {
			t.Errorf("%v: blocks of up to %d bytes are cached, want %d", c, o.Largest, want)
		}
	}
}

// So is the one of what was asked for aligned.
func TestBudgetServesWhatIsAligned(t *testing.T) {
	l := NewLimit(openDevice(t, "heap"), 7000)
	s := strategyOn("sizeclass", l, Config{Align: 4096})
	p := openPool(t, "heap", Config{Strategy: "sizeclass", Align: 4096, MaxBytes: 7000})
	for range 20 { // an address may be right by chance
		if _, err := s.Alloc(5049); !outOfMemory(err) || l.InUse() != 0 {
			t.Errorf("%v, with %d bytes in use", err, l.InUse())
		}
		if _, err := p.Get(5049); !outOfMemory(err) {
			t.Error(err)
		}
	}
}

// The caches are emptied once for what the strategy holds beyond its bound, not by each Get.
func TestCachesAreEmptiedOnceForTheBound(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "sizeclass", MaxHeld: 1 << 20})
	a, b := mustGet(t, p, 100<<10), mustGet(t, p, 100<<10)
	p.pool.held.bytes = 1 // so the strategy holds more than its part
	mustRelease(t, a)
	p.pool.held.cached.Store(true)
	if !p.pool.holdsTooMuch() {
		t.Fatalf("%+v", p.Stats())
	}
	for short, tooMuch := range []bool{false, true} {
		if p.pool.held.bytes = p.pool.Free() - int64(short); p.pool.holdsTooMuch() != tooMuch {
			t.Errorf("%d bytes beyond the bound: too much is %v", short, !tooMuch)
		}
	}
	if p.pool.keepWithinBound(); p.pool.held.cached.Load() {
		t.Error("the next Get would empty them again")
	}
	mustRelease(t, b)
}
