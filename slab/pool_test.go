package slab

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// everyStack runs f on each strategy over some devices.
func everyStack(t *testing.T, f func(t *testing.T, dev string, c Config)) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed", "virtual", "sim"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, dev, Config{Strategy: s}) })
		}
	}
}

func mustGet(t testing.TB, p *Pool, n int) PooledBuffer {
	t.Helper()
	b, err := p.Get(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

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
		s := p.Stats()
		if s.DoubleReleases != 150 || s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
			t.Errorf("%+v", s)
		}
		checkQuiet(t, p)
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

func TestBytesAreCutToLength(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		for _, n := range []int{1, 17, 1000, 4096, 33 << 10, 1 << 20} {
			b := mustGet(t, p, n)
			if m := b.Bytes(); m != nil && (len(m) != n || cap(m) != n) {
				t.Errorf("%d bytes: len %d, cap %d", n, len(m), cap(m))
			}
			if k := b.Block(); k.Len != n || (device.Bytes(k) == nil) != (b.Bytes() == nil) {
				t.Errorf("%d bytes: block %+v", n, k)
			}
			b.Release()
		}
	})
}

func TestEmptyBuffer(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		b := mustGet(t, p, 0)
		if b.Len() != 0 || len(b.Bytes()) != 0 {
			t.Error("not empty")
		}
		if s := p.Stats(); s.ActiveBlocks != 1 || s.UpstreamAllocs != 0 {
			t.Errorf("%+v", s)
		}
		if b.Release() != nil || b.Release() != ErrReleased {
			t.Error("released other than once")
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.ManagedBytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestBadSizes(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		if _, err := p.Get(-1); !errors.Is(err, ErrSize) {
			t.Errorf("Get(-1): %v", err)
		}
		for _, n := range []int{maxInt, maxInt - 1, maxInt - 4096, maxInt/2 + 1, maxInt / 2} {
			if _, err := p.Get(n); !errors.Is(err, ErrSize) && !errors.Is(err, device.ErrOutOfMemory) {
				if dev != "virtual" {
					t.Errorf("Get(%d): %v", n, err)
				}
			}
		}
		if s := p.Stats(); dev != "virtual" && (s.ActiveBlocks != 0 || s.ManagedBytes != 0) {
			t.Errorf("%+v", s)
		}
	})
}

func TestGetZeroedClears(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "virtual" {
			t.Skip("no memory to clear")
		}
		for _, zero := range []bool{false, true} {
			c.Zero = zero
			p := openPool(t, dev, c)
			host := make([]byte, 3000)
			for range 3 {
				b, err := p.GetZeroed(3000)
				if err != nil {
					t.Fatal(err)
				}
				if zero {
					b.Release()
					b = mustGet(t, p, 3000)
				}
				for i := range host {
					host[i] = 0xFF
				}
				copyTo(t, p, host, b)
				for i, v := range host {
					if v != 0 {
						t.Fatalf("byte %d is %d", i, v)
					}
				}
				for i := range host {
					host[i] = 0xFF
				}
				copyFrom(t, p, b, host)
				b.Release()
			}
		}
	})
}

func copyTo(t *testing.T, p *Pool, dst []byte, b PooledBuffer) {
	t.Helper()
	if err := p.c.device.Copy(device.Host(dst), b.Block()); err != nil {
		t.Fatal(err)
	}
}

func copyFrom(t *testing.T, p *Pool, b PooledBuffer, src []byte) {
	t.Helper()
	if err := p.c.device.Copy(b.Block(), device.Host(src)); err != nil {
		t.Fatal(err)
	}
}

func TestReleaseDuringWithTakesEffectAfterIt(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		b := mustGet(t, p, 100)
		err := b.With(func(m []byte) {
			if err := b.Release(); err != nil {
				t.Error(err)
			}
			if err := b.Release(); err != ErrReleased {
				t.Error(err)
			}
			other := mustGet(t, p, 100)
			if o := other.Bytes(); o != nil && &o[0] == &m[0] {
				t.Error("the memory was handed out while With ran")
			}
			other.Release()
			if s := p.Stats(); s.ActiveBlocks != 1 {
				t.Errorf("%+v", s)
			}
		})
		if s := p.Stats(); err != nil || s.ActiveBlocks != 0 {
			t.Errorf("%v, %+v", err, s)
		}
	})
}

func TestPanicOfWithPassesThrough(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("the panic did not pass")
			}
		}()
		b.With(func([]byte) { panic("mine") })
	}()
	if b.Release() != nil || p.Stats().ActiveBlocks != 0 {
		t.Error("the buffer is lost")
	}
}

func TestStrictPanicsWithBothSites(t *testing.T) {
	p := openPool(t, "heap", Config{Strict: true})
	b := mustGet(t, p, 100)
	b.Release()
	defer func() {
		s := fmt.Sprint(recover())
		if !strings.HasPrefix(s, "slab: PooledBuffer released twice") || strings.Count(s, "pool_test.go:") != 2 {
			t.Error(s)
		}
		if p.Stats().DoubleReleases != 1 {
			t.Errorf("%+v", p.Stats())
		}
	}()
	b.Release()
}

func TestHitDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, n := range []int{64, 4 << 10, 1 << 20} {
		p := openPool(t, "heap", Config{})
		mustGet(t, p, n).Release()
		if a := testing.AllocsPerRun(100, func() {
			b, _ := p.Get(n)
			b.Bytes()[0] = 1
			b.Release()
		}); a != 0 {
			t.Errorf("%d bytes: %v allocations", n, a)
		}
	}
}
