package slab

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A pool over what is no device: any Allocator will do.
func TestOpenOnAnyAllocator(t *testing.T) {
	for _, s := range Strategies() {
		up := &source{Host: true}
		p := mustOpen(t, up, Config{Strategy: s})
		b, err := p.GetZeroed(1000)
		if err != nil || len(b.Bytes()) != 1000 {
			t.Errorf("%s: %d bytes, %v", s, len(b.Bytes()), err)
		}
		b.Release()
		checkQuiet(t, p)
		if st := p.Stats(); st.ManagedBytes != up.Bytes || st.UpstreamAllocs != int64(up.Allocs) || st.UpstreamFrees != int64(up.Frees) {
			t.Errorf("%s: %+v, upstream %d, %d, %d", s, st, up.Bytes, up.Allocs, up.Frees)
		}
		if err := p.Close(); err != nil || up.Bytes != 0 {
			t.Errorf("%s: %v, %d bytes left", s, err, up.Bytes)
		}
	}
}

func TestGetZeroedNeedsADeviceForMemoryOutOfReach(t *testing.T) {
	up := &source{}
	p := mustOpen(t, up, Config{Strategy: "exact"})
	if _, err := p.GetZeroed(100); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
	checkNoneOut(t, p)
}

// A Get that cannot clear its block leaves it held, for the next one: however many fail, it is one block.
func TestAGetThatCannotClearHoldsNoMore(t *testing.T) {
	p := mustOpen(t, &source{}, Config{Strategy: "exact", Zero: true})
	for range 10 {
		if _, err := p.Get(100); !errors.Is(err, device.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	checkNoneOut(t, p)
	if s := p.Stats(); s.HeldBlocks != 1 || s.ManagedBytes != s.HeldBytes {
		t.Errorf("%+v", s)
	}
	if p.FreeHeld(); p.Stats().ManagedBytes != 0 {
		t.Errorf("%+v", p.Stats())
	}
}

// Memory of device virtual counts as cleared: nobody can read it.
func TestVirtualMemoryIsCleared(t *testing.T) {
	for _, zero := range []bool{false, true} {
		p := openPool(t, "virtual", Config{Zero: zero})
		b, err := p.GetZeroed(100)
		if err != nil || b.Release() != nil {
			t.Error(zero, err)
		}
		if b, err = p.Get(100); err != nil || b.Release() != nil {
			t.Error(zero, err)
		}
		checkNoneOut(t, p)
	}
}

func TestProcessorsMayComeAndGo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := openPool(t, "heap", Config{})
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			for i := range bounded(t, long(t, 3000), time.Second) {
				if g == 0 && i%100 == 0 {
					runtime.GOMAXPROCS(1 + r.IntN(8))
				}
				b := mustGet(t, p, 1+r.IntN(5000))
				b.Bytes()[0] = 1
				mustRelease(t, b)
			}
		})
	}
	all.Wait()
	checkNoneOut(t, p)
}

// MaxBytes is never exceeded, not for a moment: the upstream itself checks.
func TestMaxBytesIsNeverExceeded(t *testing.T) {
	const max = 1 << 20
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.MaxBytes = max
		p := openPool(t, dev, c)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(2, uint64(g)))
				var live []PooledBuffer
				for range upTo(long(t, 60)) { // the bound has to be reached
					b, err := p.Get(r.IntN(100 << 10))
					if err == nil {
						live = append(live, b)
					} else if !errors.Is(err, device.ErrOutOfMemory) {
						t.Error(err)
					}
					for len(live) > 0 && (err != nil || r.IntN(3) == 0) {
						live[len(live)-1].Release()
						live = live[:len(live)-1]
						err = nil
					}
				}
				releaseAll(t, live)
			})
		}
		wg.Wait()
		if s := p.Stats(); s.PeakManagedBytes > max || s.PeakManagedBytes < max/2 {
			t.Errorf("peak %d", s.PeakManagedBytes)
		}
		checkNoneOut(t, p)
	})
}

// A budget that is no multiple of the page holds all the same, and is not
// exceeded while it is found out.
func TestMaxBytesCountsWholePages(t *testing.T) {
	for _, s := range Strategies() {
		p := openPool(t, "mmap", Config{Strategy: s, MaxBytes: 150_001, CacheBytes: -1})
		for n := 1; n < 150_000; n += 997 {
			if b, err := p.Get(n); err == nil {
				b.Release()
			}
		}
		if s := p.Stats(); s.PeakManagedBytes > 150_001 {
			t.Errorf("peak %d", s.PeakManagedBytes)
		}
	}
	l := NewLimit(openDevice(t, "mmap"), 4096+4095)
	b := mustAlloc(t, l, 1)
	if _, err := l.Alloc(1); !outOfMemory(err) {
		t.Errorf("two pages of a budget of less: %v", err)
	}
	l.Free(b)
}

// A Pool that its user is through with is not closed under a Get: without room that runs the
// collector, which finds no one else who has it.
func TestAGetKeepsItsPool(t *testing.T) {
	for _, line := range []string{"device=mmap,max_bytes=8MiB", "max_bytes=8MiB,strategy=exact"} {
		for name, get := range map[string]func(*Pool) (PooledBuffer, error){
			"Get":        func(p *Pool) (PooledBuffer, error) { return p.Get(5 << 20) },
			"GetContext": func(p *Pool) (PooledBuffer, error) { return p.GetContext(t.Context(), 5<<20) },
		} {
			p := MustOpen(line)
			_, _ = p.Get(8 << 20) // is forgotten
			b, err := get(p)
			if err != nil && !errors.Is(err, device.ErrOutOfMemory) {
				t.Errorf("%s: %s: %v", line, name, err)
			}
			_ = b.Release()
		}
	}
}

// Sizes around the bounds of what is cached are got, found again and released as all others.
func TestSizesAroundTheLargestThatIsCached(t *testing.T) {
	for _, strategy := range []string{"sizeclass", "bestfit", "slab"} {
		p := openPool(t, "virtual", Config{Strategy: strategy})
		for _, size := range []int{0, 1, 2, p.pool.direct - 1, p.pool.direct, p.pool.direct + 1, p.pool.direct + 2} {
			for range 3 {
				b := mustGet(t, p, size)
				if b.Len() != size || b.Cap() < size {
					t.Errorf("%s: %d bytes of %d, asked for %d", strategy, b.Len(), b.Cap(), size)
				}
				mustRelease(t, b)
			}
		}
		checkNoneOut(t, p)
	}
}

// A Get without room looks again while other calls run, some times. Where none runs, and where others never end, it fails.
func TestAGetLooksAgainWhileOthersRun(t *testing.T) {
	calls := func(others bool) (n int) {
		m := &meddler{}
		m.refuses.Store(true)
		p := mustOpen(t, m, Config{Strategy: "direct"})
		m.first = func() {
			if n++; others && n < 1000 {
				mustRelease(t, mustGet(t, p, 10))
			}
		}
		if _, err := p.Get(1000); !outOfMemory(err) {
			t.Error(err)
		}
		check.Must(t, p.Close())
		return n
	}
	if alone, beside := calls(false), calls(true); beside <= alone || beside > 9*alone {
		t.Errorf("%d tries alone, %d beside others", alone, beside)
	}
}

// A Get that held memory can serve runs no collection.
func TestAGetThatHeldMemoryServesCollectsNothing(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{Strategy: "exact", MaxBytes: 1 << 20})
		mustRelease(t, mustGet(t, p, 800<<10))
		mustRelease(t, mustGet(t, p, 900<<10)) // no room beside the other
		if s := p.Stats(); s.Collections != 0 || s.HeldBlocks != 1 {
			t.Errorf("%s: %+v", dev, s)
		}
	}
}
