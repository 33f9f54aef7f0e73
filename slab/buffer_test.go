package slab

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

func TestOfAllReleasesOneCounts(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		for range 50 {
			b := mustGet(t, p, 1000)
			var won atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					copied := b
					switch err := copied.Release(); err {
					case nil:
						won.Add(1)
					case ErrReleased:
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d Releases returned nil", won.Load())
			}
		}
		if s := p.Stats(); s.DoubleReleases != 150 {
			t.Errorf("%+v", s)
		}
		checkNoneOut(t, p)
	})
}

func TestStaleHandleNeverReleasesTheNextOwner(t *testing.T) {
	p := openPool(t, "heap", Config{})
	var stale []PooledBuffer
	for range 200 {
		b := mustGet(t, p, 100)
		b.Release()
		stale = append(stale, b)
	}
	b := mustGet(t, p, 100)
	b.Bytes()[0] = 7
	for _, old := range stale {
		if old.Bytes() != nil || old.Release() != ErrReleased || old.Block() != (device.Block{}) ||
			old.With(func([]byte) { t.Error("With of a stale handle ran") }) != ErrReleased {
			t.Fatal("a stale handle still works")
		}
	}
	if b.Bytes()[0] != 7 || b.Release() != nil {
		t.Error("the next owner has lost its buffer")
	}
}

func TestZeroHandleIsReleased(t *testing.T) {
	var b PooledBuffer
	if b.Release() != ErrReleased || b.Bytes() != nil || b.Len() != 0 || b.Block() != (device.Block{}) || b.With(nil) != ErrReleased {
		t.Error("the zero PooledBuffer holds something")
	}
}

func TestPanicOfWithPassesThrough(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	wantPanic(t, "mine", func() { b.With(func([]byte) { panic("mine") }) })
	mustRelease(t, b)
	checkNoneOut(t, p)
}

func TestStrictPanicsWithBothSites(t *testing.T) {
	p := openPool(t, "heap", Config{Strict: true})
	b, err := p.Get(100)
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	defer func() {
		s := fmt.Sprint(recover())
		if !strings.HasPrefix(s, "slab: PooledBuffer released twice") || strings.Count(s, "buffer_test.go:") != 2 {
			t.Error(s)
		}
		if p.Stats().DoubleReleases != 1 {
			t.Errorf("%+v", p.Stats())
		}
	}()
	b.Release()
}

// So it does where the program had a slice alone, which Lookup has made a handle of.
func TestStrictPanicsWithBothSitesOfASlice(t *testing.T) {
	p := openPool(t, "heap", Config{Strict: true})
	b, ok := p.Lookup(check.Ok(p.GetBytes(10_000))(t))
	if !ok {
		t.Fatal("not found")
	}
	mustRelease(t, b)
	defer func() {
		if s := fmt.Sprint(recover()); strings.Count(s, "_test.go:") != 2 {
			t.Error(s)
		}
	}()
	t.Error("no panic, but ", b.Release())
}

// While one goroutine releases, others are in With: they see their bytes or
// ErrReleased, and the block is recycled once.
func TestWithWhileAnotherReleases(t *testing.T) {
	for _, c := range []Config{{}, {Strategy: "slab", CacheBytes: -1}} {
		p := openPool(t, "mmap", c)
		for round := range bounded(t, long(t, 300), time.Second) {
			b := mustGet(t, p, 1000)
			mark := byte(round)
			device.Fill(b.Bytes(), mark)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					err := b.With(func(m []byte) {
						for _, v := range m {
							if v != mark {
								t.Errorf("round %d: byte %d", round, v)
								return
							}
						}
					})
					if err != nil && err != ErrReleased {
						t.Error(err)
					}
				})
			}
			all.Go(func() { mustRelease(t, b) })
			all.Wait()
			overwrite(t, p, 1000, mark+1)
		}
		checkQuiet(t, p)
	}
}

func TestHitDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, n := range []int{64, 4 << 10, 1 << 20} {
		p := openPool(t, "heap", Config{})
		mustGet(t, p, n).Release()
		if a := check.Allocs(100, func() {
			b, _ := p.Get(n)
			b.Bytes()[0] = 1
			b.Release()
		}); a != 0 {
			t.Errorf("%d bytes: %v allocations", n, a)
		}
	}
}

// All methods of a handle may run beside its Release, also where its block goes back at once.
func TestMethodsBesideRelease(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=mmap,cache_bytes=0", "device=heap,strategy=exact"} {
		p := openLine(t, line)
		for range 100 {
			b := check.Ok(p.Get(100_000))(t)
			var wg sync.WaitGroup
			for _, f := range []func(){
				func() { b.Bytes() }, func() { b.Block() }, func() { b.Cap() }, func() {
					if err := b.With(func([]byte) {}); err != nil && err != ErrReleased {
						t.Error(err)
					}
				}, func() { check.Must(t, b.Release()) },
				func() { check.Must(t, check.Ok(p.Get(90_000))(t).Release()) },
				func() {
					if c, err := b.Share(); err == nil {
						check.Must(t, c.Release())
					}
				},
			} {
				wg.Go(f)
			}
			wg.Wait()
		}
		check.Must(t, p.Close())
	}
}
