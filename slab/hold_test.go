package slab

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
)

func TestStopHoldingGivesAllBackAndGoesOn(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		a, b := mustGet(t, p, 5000), mustGet(t, p, 60)
		b.Release()
		p.StopHolding()
		a.Release()
		if s := p.Stats(); s.ManagedBytes != 0 || s.HeldBlocks != 0 || s.HeldBytes != 0 {
			t.Errorf("%+v", s)
		}
		a = mustGet(t, p, 5000)
		a.Release()
		if s := p.Stats(); s.ManagedBytes != 0 {
			t.Errorf("later: %+v", s)
		}
	})
}

func TestFreeHeldKeepsHoldingLater(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.CacheBytes = -1 // one goroutine may come to two caches
		p := openPool(t, dev, c)
		mustGet(t, p, 5000).Release()
		p.FreeHeld()
		if s := p.Stats(); s.ManagedBytes != 0 {
			t.Errorf("%+v", s)
		}
		for range 3 {
			mustGet(t, p, 5000).Release()
		}
		if s := p.Stats(); c.Strategy != "direct" && (s.HeldBytes < 5000 || s.Hits != 2) {
			t.Errorf("later: %+v", s)
		}
	})
}

func TestCloseReportsLeaksAndBuffersStayValid(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.Check = true
		p := openPool(t, dev, c)
		b := mustGet(t, p, 700)
		var leak *LeakError
		if err := p.Close(); !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 700 ||
			len(leak.Leaks) != 1 || !strings.Contains(err.Error(), "_test.go:") {
			t.Fatalf("Close: %v", err)
		}
		if _, err := p.Get(1); !errors.Is(err, ErrClosed) {
			t.Errorf("Get: %v", err)
		}
		if m := b.Bytes(); m != nil {
			m[699] = 1
		}
		if err := b.Release(); err != nil {
			t.Error(err)
		}
		if s := p.Stats(); s.ManagedBytes != 0 || s.ActiveBlocks != 0 {
			t.Errorf("%+v", s)
		}
		if err := p.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestTrimAfterGivesIdleMemoryBack(t *testing.T) {
	for _, s := range Strategies()[1:] {
		t.Run(s, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := openPool(t, "mmap", Config{Strategy: s, TrimAfter: time.Minute})
				mustGet(t, p, 100<<10).Release()
				time.Sleep(30 * time.Second) // of the bubble's clock
				synctest.Wait()
				if p.Stats().HeldBytes < 100<<10 {
					t.Errorf("gone early: %+v", p.Stats())
				}
				time.Sleep(60 * time.Second)
				synctest.Wait()
				if p.Stats().ManagedBytes != 0 {
					t.Errorf("still held: %+v", p.Stats())
				}
				p.Close()
			})
		})
	}
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
				for range 2000 {
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
				for _, b := range live {
					b.Release()
				}
			})
		}
		wg.Wait()
		if s := p.Stats(); s.PeakManagedBytes > max || s.PeakManagedBytes < max/2 {
			t.Errorf("peak %d", s.PeakManagedBytes)
		}
		checkQuiet(t, p)
	})
}

func TestOutOfMemoryError(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.MaxBytes = 256 << 10
		p := openPool(t, dev, c)
		b := mustGet(t, p, 100<<10)
		before := p.Stats()
		_, err := p.Get(1 << 20)
		var oom *OutOfMemoryError
		if !errors.As(err, &oom) || !errors.Is(err, device.ErrOutOfMemory) || oom.Size != 1<<20 || oom.ActiveBytes != 100<<10 {
			t.Fatalf("%v", err)
		}
		s := p.Stats()
		if s.ActiveBlocks != before.ActiveBlocks || s.ActiveBytes != before.ActiveBytes {
			t.Errorf("%+v, before %+v", s, before)
		}
		b.Release()
		mustGet(t, p, 200<<10).Release()
	})
}

func TestForgottenPoolGivesItsMemoryBack(t *testing.T) {
	d, _ := device.Open("virtual:1GiB")
	func() {
		p, err := Open(d, Config{Strategy: "exact"})
		if err != nil {
			t.Fatal(err)
		}
		mustGet(t, p, 100<<10).Release()
	}()
	for range 100 {
		cycle()
		if free, total, _ := d.MemInfo(); free == total {
			return
		}
	}
	t.Error("memory of a forgotten pool is still allocated")
}
