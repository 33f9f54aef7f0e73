package slab

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func mustGrow(t testing.TB, b PooledBuffer, n int) PooledBuffer {
	t.Helper()
	c, err := b.Grow(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mustBeStale fails unless b has nothing any more.
func mustBeStale(t testing.TB, b PooledBuffer) {
	t.Helper()
	_, err := b.Grow(b.Len())
	if b.Bytes() != nil || b.Cap() != 0 || err != ErrReleased || b.Release() != ErrReleased {
		t.Errorf("a buffer of %d bytes is not stale: Grow says %v", b.Len(), err)
	}
}

// The new buffer has the contents of the old one, which is stale, whatever stands where.
func TestGrowKeepsContents(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "sim" || dev == "virtual" {
			t.Skip("the CPU does not reach its memory")
		}
		p := openPool(t, dev, c)
		b := mustGet(t, p, 1)
		b.Bytes()[0] = 1
		for n := 2; n <= 1<<20; n *= 2 {
			c := mustGrow(t, b, n)
			mustBeStale(t, b)
			if b = c; b.Len() != n || b.Cap() < n || len(b.Bytes()) != n {
				t.Fatalf("grown to %d bytes: Len %d, Cap %d", n, b.Len(), b.Cap())
			}
			m := b.Bytes()
			for i, v := range m[:n/2] {
				if v != byte(i+1) {
					t.Fatalf("byte %d of %d: %d", i, n, v)
				}
			}
			for i := n / 2; i < n; i++ {
				m[i] = byte(i + 1)
			}
			checkQuiet(t, p)
		}
		if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != 1<<20 || s.DoubleReleases != 20 {
			t.Errorf("%+v", s)
		}
		mustRelease(t, b)
		checkNoneOut(t, p)
	})
}

// Within the block nothing moves; a smaller n cuts the view and keeps the block.
func TestGrowWithinTheBlock(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 1000)
	at, room := &b.Bytes()[0], b.Cap()
	if room != 1024 {
		t.Fatalf("1000 bytes have a block of %d", room)
	}
	before := p.Stats()
	for _, n := range []int{1024, 10, 0, 1, 1024} {
		old := b
		if b = mustGrow(t, b, n); b.Cap() != room || b.Len() != n || n > 0 && &b.Bytes()[0] != at {
			t.Errorf("%d bytes: Cap %d, or moved", n, b.Cap())
		}
		mustBeStale(t, old)
	}
	if now := p.Stats(); now.ManagedBytes != before.ManagedBytes || now.ActiveBytes != 1024 || now.ActiveBlocks != 1 || now.Hits != before.Hits+5 {
		t.Errorf("%+v became %+v", before, now)
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// With bestfit and slab a buffer takes the memory after it: free, in a cache, or from the
// range. Its neighbour keeps it from that.
func TestGrowInPlace(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		p := mustOpen(t, &pages{}, Config{Strategy: name, MaxBytes: 1 << 20})
		b := mustGet(t, p, 4096)
		at := where(b)
		for n := 8192; n <= 512<<10; n *= 2 {
			if b = mustGrow(t, b, n); where(b) != at || b.Cap() != n {
				t.Fatalf("%s: %d bytes have moved", name, n)
			}
		}
		next := mustGet(t, p, 4096)
		if where(next).Off != at.Off+512<<10 {
			t.Fatal("the test needs a neighbour")
		}
		mustRelease(t, next) // it may lie in a cache
		if b = mustGrow(t, b, 700<<10); where(b) != at {
			t.Errorf("%s: a neighbour that is free was in the way", name)
		}
		next = mustGet(t, p, 4096)
		if _, err := b.Grow(800 << 10); !outOfMemory(err) || b.Len() != 700<<10 || where(b) != at {
			t.Errorf("%s: a neighbour, and no room elsewhere: %v", name, err)
		}
		mustRelease(t, next)
		if s := p.Stats(); s.PeakManagedBytes > 1<<20 || s.UpstreamAllocs > 12 {
			t.Errorf("%s: %+v", name, s)
		}
		mustRelease(t, b)
		checkNoneOut(t, p)
		p.FreeHeld()
		if u := usageOf(p.pool.strategy, 0); u != (Usage{}) {
			t.Errorf("%s: the strategy counts %+v", name, u)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		checkNothing(t, p)
	}
}

// What was decommitted after a block is taken before anything is copied.
func TestGrowTakesDecommittedPages(t *testing.T) {
	p := mustOpen(t, &pages{Source: source{Host: true}}, Config{Strategy: "bestfit", CacheBytes: -1})
	b, next, top := mustGet(t, p, page), mustGet(t, p, 7*page), mustGet(t, p, page)
	at := where(b)
	mustRelease(t, next)
	p.FreeHeld()
	if s := p.Stats(); s.HeldBytes >= 7*page {
		t.Fatalf("nothing is decommitted: %+v", s)
	}
	if b = mustGrow(t, b, 8*page); where(b) != at {
		t.Error("moved")
	}
	if b = mustGrow(t, b, 9*page); where(b) == at {
		t.Error("grown into its neighbour")
	}
	releaseAll(t, []PooledBuffer{b, top})
	checkNoneOut(t, p)
}

// A block that was grown serves its new class, or is not cached.
func TestGrownBlockIsCachedByItsLength(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "slab", CacheBytes: 64 << 20})
	b := mustGrow(t, mustGet(t, p, 4096), 1<<20)
	at := where(b)
	mustRelease(t, b)
	if b = mustGet(t, p, 1<<20); where(b) != at {
		t.Error("the block does not serve its new class")
	}
	if b = mustGrow(t, b, 48<<20); b.slot.Simple() || b.slot.Class() != p.pool.cache.Uncached() {
		t.Error("a block above the largest class is cached")
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// A neighbour that lies in a cache gives way before anything is copied.
func TestGrowEmptiesCachesFirst(t *testing.T) {
	p := mustOpen(t, &pages{Source: source{Host: true}}, Config{Strategy: "bestfit"})
	b, next := mustGet(t, p, page), mustGet(t, p, page)
	at := where(b)
	mustRelease(t, next)
	if p.pool.cache.Usage().Blocks != 1 {
		t.Fatal("the neighbour is in no cache")
	}
	if b = mustGrow(t, b, 12*page); where(b) != at {
		t.Error("moved")
	}
	mustRelease(t, b)
}

// Where there is no room elsewhere Grow looks after b again when all has gone back that can.
func TestGrowWithoutRoomLooksInPlaceAgain(t *testing.T) {
	p := mustOpen(t, &pages{Source: source{Host: true}}, Config{Strategy: "bestfit", MaxBytes: 1 << 20})
	q := &queue{}
	b, next := mustGet(t, p, 400<<10), mustGet(t, p, 300<<10)
	at := where(b)
	mustRelease(t, used(t, next, q))
	if b = mustGrow(t, b, 650<<10); where(b) != at || q.Synced() != 1 {
		t.Errorf("%d waits, %v became %v", q.Synced(), at, where(b))
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// Where blocks cannot be extended Grow makes no garbage.
func TestGrowByCopyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := openLine(t, "")
	n := check.Allocs(100, func() {
		b := mustGet(t, p, 1000)
		c, err := b.Grow(5000)
		if err != nil {
			t.Fatal(err)
		}
		mustRelease(t, c)
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
