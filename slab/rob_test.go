package slab

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/internal/pin"
)

// robbed takes a block from the processors' magazines and releases it.
func robbed(k *core, size int) bool {
	class := k.cache.grid.index(size)
	e, ok := k.rob(class, k.config.Steps, size)
	if ok {
		b, _ := k.hand(e, size)
		b.Release()
	}
	return ok
}

func needBarriers(t *testing.T) {
	t.Helper()
	if pin.Exclusive && !pin.Barrier() {
		t.Skip("the pinned cannot be told of anything here")
	}
}

func TestRobTakesWhatIsCached(t *testing.T) {
	needBarriers(t)
	p := openPool(t, "heap", Config{})
	const size = 1 << 20
	if robbed(p.c, size) {
		t.Error("a block of an empty pool")
	}
	mustGet(t, p, size).Release()
	if !robbed(p.c, size) {
		t.Error("the block was not found")
	}
	if !robbed(p.c, size*3/4) {
		t.Error("the block was not found for less than a doubling below")
	}
	if robbed(p.c, size/8) {
		t.Error("a block of eight times the size")
	}
	checkQuiet(t, p)
	if s := p.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.HeldBlocks != 1 || s.Hits != 2 {
		t.Errorf("%+v", s)
	}
}

// One miss in so many allocates, whatever others have.
func TestRobbingIsBounded(t *testing.T) {
	needBarriers(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := openPool(t, "heap", Config{})
	most, least := robMost, robMost
	if !pin.Exclusive { // it is counted by shard
		most, least = robMost*len(p.c.cache.shards), 0
	}
	mustGet(t, p, 1<<20).Release()
	for round := range 3 {
		n := 0
		for robbed(p.c, 1<<20) {
			n++
		}
		if n > most || round > 0 && n < least {
			t.Errorf("%d in a row", n)
		}
	}
}

// What is released while its magazine is shut waits in the depot, where
// everybody finds it, and not in the strategy.
func TestReleasedAsideIsFound(t *testing.T) {
	p := openPool(t, "heap", Config{})
	k := p.c
	const size = 1 << 20
	b := mustGet(t, p, size)
	class := k.cache.grid.index(size)
	k.cache.shutting.Lock()
	k.cache.shut()
	b.Release()
	k.cache.open()
	k.cache.shutting.Unlock()
	if n := k.cache.depot.classes[class].count; n != 1 {
		t.Errorf("%d batches in the depot", n)
	}
	checkQuiet(t, p)
	mustGet(t, p, size*7/8).Release()
	if s := p.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.Hits != 1 || s.Misses != 1 {
		t.Errorf("%+v", s)
	}
}

// Robbers beside everybody else: whoever has a block is alone with it. Without
// the barrier of seize this fails.
func TestRobbersBesideHits(t *testing.T) {
	needBarriers(t)
	n := 0
	besideHits(t, Config{}, 2<<10, func(k *core) { // by one goroutine
		if robbed(k, 128<<10) {
			n++
		}
	})
	if n == 0 {
		t.Error("nothing was ever taken")
	}
}

// A processor that has no block takes those of another one before it goes upstream.
func TestMissTakesWhatAnotherProcessorHas(t *testing.T) {
	needBarriers(t)
	if !pin.Exclusive || runtime.GOMAXPROCS(0) < 2 || runtime.NumCPU() < 2 {
		t.Skip("there is one processor, or none that is the caller's alone")
	}
	for range 100 {
		p := openPool(t, "heap", Config{})
		if allocs, apart := handOver(t, p); apart {
			if allocs != 8 {
				t.Errorf("%d blocks for 8 at once", allocs)
			}
			return
		}
		p.Close()
	}
	t.Error("two goroutines were never on processors of their own")
}

// handOver has one goroutine release eight blocks and another one, while the
// first is still on its processor, get as many. It tells how many blocks that
// took, and whether the two stayed on processors of their own.
func handOver(t *testing.T, p *Pool) (allocs int64, apart bool) {
	var released, got atomic.Bool
	var wg sync.WaitGroup
	var first [2]int
	wg.Go(func() {
		first[0] = here()
		var live [8]PooledBuffer
		for i := range live {
			live[i] = mustGet(t, p, 1<<20)
		}
		for i := range live {
			live[i].Release()
		}
		released.Store(true)
		for !got.Load() { // on its processor
		}
		first[1] = here()
	})
	var second [2]int
	wg.Go(func() {
		for !released.Load() {
		}
		second[0] = here()
		for range 8 {
			defer mustGet(t, p, 1<<20).Release()
		}
		second[1] = here()
		got.Store(true)
	})
	wg.Wait()
	return p.Stats().UpstreamAllocs, first[0] == first[1] && second[0] == second[1] && first[0] != second[0]
}

func here() int {
	defer pin.Unpin()
	return pin.Pin()
}
