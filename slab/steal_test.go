package slab

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

func TestMagazineIsOneLine(t *testing.T) {
	if n := unsafe.Sizeof(magazine{}); n != lineBytes {
		t.Errorf("%d bytes", n)
	}
}

// moveShard lets one processor's blocks be another's: of a quiet pool.
func moveShard(t *testing.T, c *cache) {
	t.Helper()
	if len(c.shards) < 2 {
		t.Skip("there is one processor")
	}
	for i := range c.shards {
		for j := range c.shards[i].mags {
			if c.shards[i].mags[j].n() == 0 {
				continue
			}
			from, to := &c.shards[i], &c.shards[(i+1)%len(c.shards)]
			for j := range from.mags {
				a, b := &from.mags[j], &to.mags[j]
				b.limit.Store(a.limit.Swap(b.limit.Load()))
				a.loaded, b.loaded = b.loaded, a.loaded
				a.spare, b.spare = b.spare, a.spare
				a.nspare, b.nspare = b.nspare, a.nspare
				a.state, b.state = b.state, a.state
				a.asked, b.asked = b.asked, a.asked
				a.moved, b.moved = b.moved, a.moved
			}
			to.granted.Store(from.granted.Swap(to.granted.Load()))
			return
		}
	}
	t.Fatal("nothing is cached")
}

// pinned keeps the test on one processor, as far as that can be had.
func pinned(t *testing.T) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

func TestMissTakesLargeBlocksOfOtherProcessors(t *testing.T) {
	if !cheapFence() {
		t.Skip("a fence costs too much here")
	}
	pinned(t)
	p := openPool(t, "heap", Config{})
	for _, size := range []int{300 << 10, 80 << 10, 200 << 10} {
		b := mustGet(t, p, size)
		b.Release()
	}
	before := p.Stats()
	for i := range p.c.cache.shards { // whichever it is that we run on
		moveShard(t, &p.c.cache)
		b := mustGet(t, p, 300<<10)
		if s := p.Stats(); s.UpstreamAllocs != before.UpstreamAllocs {
			t.Errorf("round %d: %d calls upstream, %d before", i, s.UpstreamAllocs, before.UpstreamAllocs)
		}
		b.Release()
	}
	checkQuiet(t, p)
}

// Where processors always lack what others have, stealing ends.
func TestStealingIsPaidFor(t *testing.T) {
	if !cheapFence() {
		t.Skip("a fence costs too much here")
	}
	pinned(t)
	p := openPool(t, "heap", Config{})
	mustGet(t, p, 1<<20).Release()
	for range 100 {
		moveShard(t, &p.c.cache)
		mustGet(t, p, 1<<20).Release()
	}
	s := p.Stats()
	if n := p.c.cache.stolen.Load(); n == 0 || n > thefts*s.UpstreamAllocs {
		t.Errorf("%d blocks stolen, %d from upstream", n, s.UpstreamAllocs)
	}
}

// Thieves, drains and everybody else on the same few blocks: whoever has one
// is alone with it.
func TestStealingBesideHitsAndDrains(t *testing.T) {
	p := openPool(t, "heap", Config{})
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 3))
			var live [8]PooledBuffer
			for i := range rounds {
				at := &live[r.IntN(len(live))]
				if m := at.Bytes(); m != nil {
					if m[0] != byte(g) || m[len(m)-1] != byte(g) {
						t.Errorf("a block of %d bytes was somebody else's too", len(m))
					}
					at.Release()
				}
				*at = mustGet(t, p, 64<<10+r.IntN(64<<10))
				m := at.Bytes()
				m[0], m[len(m)-1] = byte(g), byte(g)
				p.c.cache.stolen.Store(0) // as often as possible
				if i%1000 == 0 {
					p.Trim(g & 1)
				}
			}
			for _, b := range live {
				b.Release()
			}
		})
	}
	all.Wait()
	checkQuiet(t, p)
	if s := p.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
		t.Errorf("%+v", s)
	}
}
