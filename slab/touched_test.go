package slab

import (
	"runtime"
	"strconv"
	"testing"
)

// On mmap pages count when they are handed out first: they have no memory before, however
// far ahead they are accessible. That holds for a budget, too.
func TestMmapCountsWhatIsTouched(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("the pools of other tests may have all addresses that ranges get there")
	}
	p := openPool(t, "mmap", Config{MaxBytes: 1 << 20, CacheBytes: -1})
	for n := range int64(250) {
		mustGet(t, p, 4096)
		if s := p.Stats(); s.ManagedBytes != (n+1)*4096 || s.UpstreamAllocs != 1 {
			t.Fatalf("%d bytes managed in %d calls for %d pages", s.ManagedBytes, s.UpstreamAllocs, n+1)
		}
	}
}

// What lies in caches goes back to the heap before the pool passes its old peak.
func TestCachesAreEmptiedBeforeAPeak(t *testing.T) {
	for _, dev := range []string{"virtual", "virtual:fixed"} {
		p := openPool(t, dev, Config{Strategy: "bestfit", MissTarget: 1})
		const size = 3000
		var live []PooledBuffer
		for range 40 {
			live = append(live, mustGet(t, p, size))
		}
		releaseAll(t, live)
		u := p.pool.cache.Usage()
		if u.Blocks < 4 {
			t.Fatalf("%s: %d blocks are cached", dev, u.Blocks)
		}
		before := p.Stats()
		mustGet(t, p, int(before.HeldBytes)*9/10)
		if s := p.Stats(); s.PeakManagedBytes != before.PeakManagedBytes {
			t.Errorf("%s: a peak of %d bytes, %d before, %d held", dev, s.PeakManagedBytes, before.PeakManagedBytes, before.HeldBytes)
		}
		runtime.KeepAlive(p)
	}
}
