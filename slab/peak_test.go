package slab

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// PeakActiveBytes is the most that was out, as far as Gets see that pass the caches, and never more.
func TestPeakActive(t *testing.T) {
	for _, line := range []string{"heap,strategy=direct", "heap", "mmap", "mmap,strategy=bestfit,cache_bytes=0", "virtual,strategy=exact"} {
		p := MustOpen("device=" + line)
		r := rand.New(rand.NewPCG(1, 1))
		var out []PooledBuffer
		live, most, before := int64(0), int64(0), int64(0)
		for range 8000 {
			if n := 1 + r.IntN(30_000); len(out) < 100 || r.IntN(2) == 0 && len(out) < 300 {
				out = append(out, mustGet(t, p, n))
				live += int64(n)
				most = max(most, live)
				continue
			}
			b := takeAt(&out, r.IntN(len(out)))
			live -= int64(b.Len())
			mustRelease(t, b)
			if got := p.pool.peak.most.Load(); got > most || got < before {
				t.Fatalf("%s: %d after %d, at most %d were out", line, got, before, most)
			}
			before = p.pool.peak.most.Load()
		}
		held := p.Stats().HeldBytes
		if got := before; got < most-max(most/64, p.pool.peak.enough)-held {
			t.Errorf("%s: %d, want %d", line, got, most)
		}
		if s := p.Stats(); s.PeakActiveBytes < before || s.PeakActiveBytes > most {
			t.Errorf("%s: Stats has %d, Gets saw %d, at most %d were out", line, s.PeakActiveBytes, before, most)
		}
		releaseAll(t, out)
	}
}

// Without caches each Get passes them: then no more than a 64th is missing, and of a few buffers nothing.
func TestPeakActiveWithoutCaches(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "slab", CacheBytes: -1})
	a, b := mustGet(t, p, 1<<20), mustGet(t, p, 2<<20)
	c := mustGrow(t, b, 5<<20)
	mustRelease(t, a)
	mustRelease(t, c)
	if got := p.pool.peak.most.Load(); got != 6<<20 {
		t.Errorf("%d", got)
	}
}

// To look touches the counters of all processors. So Gets that pass the caches do not look again before they have
// asked for what is missing from the peak.
func TestPeakActiveLooksWhenItMayRise(t *testing.T) {
	p := onOneProcessor(t, openPool(t, "mmap", Config{Strategy: "slab", CacheBytes: -1}))
	mustRelease(t, mustGet(t, p, 64<<20))
	p.pool.peak.left.Store(0)
	mustRelease(t, mustGet(t, p, 1<<20))
	for want := int64(63 << 20); want > 0; want -= 8 << 20 {
		if got := p.pool.peak.left.Load(); got != want {
			t.Errorf("they look after %d bytes, want %d", got, want)
		}
		mustRelease(t, mustGet(t, p, 8<<20))
	}
	if got, want := p.pool.peak.left.Load(), int64(56<<20); got != want {
		t.Errorf("with 8 MiB out they look after %d bytes, want %d", got, want)
	}
}

// Gets look when they have asked for a 64th of the peak, and for what was missing from it. While looks find no more
// they look half as often each time, at least once in 127 Gets and once in 512 KiB a processor.
func TestPeakActiveLooksLessOften(t *testing.T) {
	var a activePeak
	a.open(2)
	look := func(n int64, size int, want int64) {
		t.Helper()
		if a.look(n, size); a.left.Load() != want {
			t.Errorf("%d bytes out, after a Get of %d: the next look after %d bytes, want %d", n, size, a.left.Load(), want)
		}
	}
	look(640, 100, 10)
	for _, gets := range []int64{1, 3, 7, 15, 31, 63, 127, 127} {
		look(640, 100, gets*100)
	}
	look(640, 1<<20, 1<<20) // of two processors
	look(1280, 100, 20)
	look(40, 100, 1240)
}

// A moment with many large buffers is seen, also after thousands of Gets that found no new peak, and where there is
// memory for all.
func TestPeakActiveSeesAMoment(t *testing.T) {
	p := onOneProcessor(t, openPool(t, "mmap", Config{Strategy: "slab", CacheBytes: -1}))
	moment := func() {
		var out []PooledBuffer
		for range 8 {
			out = append(out, mustGet(t, p, 2<<20))
		}
		releaseAll(t, out)
	}
	moment()
	p.ResetPeaks()
	for range 1000 {
		mustRelease(t, mustGet(t, p, 1<<20))
	}
	moment()
	if got := p.Stats().PeakActiveBytes; got != 16<<20 {
		t.Errorf("%d", got)
	}
}

// An interruption is an upstream that does something while it makes a block.
type interruption struct {
	*source
	do func()
}

func (i *interruption) Alloc(size int) (device.Block, error) {
	b, err := i.source.Alloc(size)
	i.do()
	return b, err
}

// A buffer that is released while a large one is being made was out when that was asked for: so the pool
// has memory for both. Where there is room only because of the Release it had none.
func TestPeakActiveWhileMemoryIsMade(t *testing.T) {
	for capacity, want := range map[int64]int64{0: 6 << 20, 5 << 20: 4 << 20} {
		up := &interruption{&source{Capacity: capacity}, func() {}}
		p := mustOpen(t, up, Config{Strategy: "sizeclass"})
		onOneProcessor(t, p)
		a := mustGet(t, p, 4<<20)
		up.do = func() { mustRelease(t, a); up.do = func() {} }
		mustRelease(t, mustGet(t, p, 2<<20))
		if got := p.Stats().PeakActiveBytes; got != want {
			t.Errorf("%d bytes, not %d, of %d", got, want, capacity)
		}
	}
}

// What was forgotten is not out.
func TestPeakActiveKnowsTheForgotten(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "direct"})
	mustGet(t, p, 8<<20)
	eventually(t, "it is found", func() bool { cycle(); return p.Stats().Forgotten == 1 })
	p.ResetPeaks()
	mustRelease(t, mustGet(t, p, 3<<20))
	if s := p.Stats(); s.PeakActiveBytes != 3<<20 {
		t.Errorf("%d", s.PeakActiveBytes)
	}
}

// While others get and release it may be too small, and is never too large: each has two buffers out at most.
func TestPeakActiveIsNeverTooLarge(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap,strategy=slab,cache_bytes=0"} {
		p := MustOpen(line)
		var all sync.WaitGroup
		const goroutines, size = 4, 100_000
		for range goroutines {
			all.Go(func() {
				for range 3000 {
					a, b := mustGet(t, p, size), mustGet(t, p, size)
					mustRelease(t, a)
					mustRelease(t, b)
					if n := p.pool.activeBytes(); n > 2*goroutines*size {
						t.Errorf("%s: %d bytes are out", line, n)
						return
					}
				}
			})
		}
		all.Wait()
		if n := p.Stats().PeakActiveBytes; n > 2*goroutines*size || n < size {
			t.Errorf("%s: at most %d bytes were out", line, n)
		}
	}
}
