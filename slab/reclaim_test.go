package slab

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/internal/pin"
)

func TestFreeHeldKeepsHoldingLater(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.CacheBytes = -1 // one goroutine may come to two caches
		p := openPool(t, dev, c)
		mustGet(t, p, 5000).Release()
		p.FreeHeld()
		checkNothing(t, p)
		for range 3 {
			mustGet(t, p, 5000).Release()
		}
		if s := p.Stats(); c.Strategy != "direct" && (s.HeldBytes < 5000 || s.Hits != 2) {
			t.Errorf("later: %+v", s)
		}
	})
}

// Close closes a pool though buffers are out.
func TestClosed(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	if p.Closed() {
		t.Error("closed before Close")
	}
	if p.Close() == nil || !p.Closed() {
		t.Error("not closed")
	}
	mustRelease(t, b)
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
		mustRelease(t, b)
		checkNothing(t, p)
		if err := p.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestForgottenPoolGivesItsMemoryBack(t *testing.T) {
	d := openDevice(t, "virtual:1GiB")
	func() { mustGet(t, mustOpen(t, d, Config{Strategy: "exact"}), 100<<10).Release() }()
	eventually(t, "memory of a forgotten pool is free", func() bool {
		cycle()
		free, total, _ := d.MemInfo()
		return free == total
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
				checkNothing(t, p)
				p.Close()
			})
		})
	}
}

// However short the idle time, the clock finds its timer.
func TestTrimAfterAsShortAsCanBe(t *testing.T) {
	for _, after := range []time.Duration{1, 4, time.Microsecond} {
		for range 100 {
			p := openPool(t, "virtual", Config{Strategy: "exact", TrimAfter: after})
			mustGet(t, p, 100).Release()
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := openPool(t, "virtual", Config{Strategy: "exact", TrimAfter: 1})
	mustGet(t, p, 100).Release()
	eventually(t, "a nanosecond is over", func() bool { return p.Stats().ManagedBytes == 0 })
}

// What goes upstream because a cache lets go of it counts like the rest.
func TestTrimCountsWhatLeavesTheCaches(t *testing.T) {
	p := onOneProcessor(t, openPool(t, "heap", Config{Strategy: "sizeclass"}))
	mustRelease(t, mustGet(t, p, 10<<10))
	p.pool.strategy.(Holder).StopHolding() // but the caches go on
	had := p.Stats().ManagedBytes
	if n, left := p.Trim(0), p.Stats().ManagedBytes; had == 0 || n != had-left {
		t.Errorf("Trim(0) = %d, of %d bytes %d are left", n, had, left)
	}
}

// Caches are emptied beside hits on the same few blocks: each block has one owner.
// Without quiesce this fails.
func TestDrainsBesideHits(t *testing.T) {
	besideHits(t, Config{}, 1<<10, func(p *pool) { p.emptyCaches() })
}

// Where the budget is so small that classes evict each other all the time, a
// block that is released during a drain stays of its class.
func TestDrainsBesideEvictions(t *testing.T) {
	besideHits(t, Config{CacheBytes: 8 << 10}, 64, func(p *pool) { p.emptyCaches() })
}

// besideHits disturbs four goroutines that get and release blocks of a size and of
// up to 128 times as much.
func besideHits(t *testing.T, c Config, size int, disturb func(*pool)) {
	c.Strategy = "sizeclass"
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, c)
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 3))
				var live [8]PooledBuffer
				for i := range bounded(t, long(t, 20_000), 2*time.Second) {
					at := &live[r.IntN(len(live))]
					if m := at.Bytes(); m != nil {
						if m[0] != byte(g) || m[len(m)-1] != byte(g) {
							t.Errorf("a block of %d bytes was somebody else's too", len(m))
						}
						at.Release()
					}
					*at = mustGet(t, p, size<<r.IntN(8))
					m := at.Bytes()
					m[0], m[len(m)-1] = byte(g), byte(g)
					if i%64 == 0 && g == 0 {
						disturb(p.pool)
					}
				}
				for _, b := range live {
					b.Release() // some may be none
				}
			})
		}
		all.Wait()
		checkNoneOut(t, p)
	}
}

// holdSome makes a pool hold memory of several sizes.
func holdSome(t *testing.T, p *Pool) {
	t.Helper()
	kept := mustGet(t, p, 100)
	for range 100 {
		mustGet(t, p, 300<<10).Release()
		mustGet(t, p, 3<<10).Release()
	}
	kept.Release()
	if p.Stats().HeldBytes == 0 {
		t.Error("nothing was held")
	}
}

// A pool that is not used for its idle time gives back all that it holds.
func TestIdlePoolGivesBack(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if c.Strategy == "direct" {
			t.Skip("direct holds nothing")
		}
		c.Idle = time.Minute
		synctest.Test(t, func(t *testing.T) {
			p := openPool(t, dev, c)
			holdSome(t, p)
			time.Sleep(50 * time.Second) // of the bubble's clock
			if held := p.Stats().HeldBytes; held < 300<<10 {
				t.Errorf("%d bytes held after 50 seconds", held)
			}
			time.Sleep(30 * time.Second)
			synctest.Wait()
			checkNothing(t, p)
			p.Close()
		})
	})
}

// Memory that is used once a second is kept on the heap, and what is not touched for
// the idle time goes back from a pool in use. Without caches: a goroutine that moves to
// another processor leaves behind what it has released.
func TestHeapIsHeldByTimeAndUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPool(t, "heap", Config{CacheBytes: -1})
		mustGet(t, p, 40<<20).Release()
		mustGet(t, p, 8<<20).Release()
		for range 60 {
			time.Sleep(time.Second)
			mustGet(t, p, 8<<20).Release()
		}
		if s := p.Stats(); s.Misses != 2 || s.HeldBytes != 8<<20 {
			t.Errorf("%+v", s)
		}
		p.Close()
	})
}

// Collections alone take nothing from a pool, on any device: off the heap a pool holds
// until it is told.
func TestCollectionsTakeNothing(t *testing.T) {
	for _, dev := range everyDevice {
		pools := poolsOn(t, dev)[1:] // direct holds nothing
		var before []Stats
		for _, p := range pools {
			holdSome(t, p)
			before = append(before, p.Stats())
		}
		for range 5 {
			cycle()
		}
		for i, p := range pools {
			if s := p.Stats(); s.HeldBytes != before[i].HeldBytes || s.UpstreamFrees != before[i].UpstreamFrees {
				t.Errorf("%v: held %d bytes, now %d", p, before[i].HeldBytes, s.HeldBytes)
			}
		}
	}
	p := openPool(t, "sim:1GiB", Config{})
	for range 10 {
		mustGet(t, p, 64<<20).Release()
		for range 3 {
			cycle()
		}
	}
	if s := p.Stats(); s.Hits != 9 {
		t.Errorf("%d hits of 10 Gets of 64 MiB, one each three collections", s.Hits)
	}
}

// idle=keep holds on the heap, too.
func TestIdleKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := ParseConfig("idle=keep")
		if err != nil || c.Idle != -1 {
			t.Fatal(c, err)
		}
		p := openPool(t, "heap", c)
		holdSome(t, p)
		before := p.Stats().HeldBytes
		time.Sleep(24 * time.Hour)
		if held := p.Stats().HeldBytes; held != before {
			t.Errorf("%d of %d bytes are held a day later", held, before)
		}
		p.Close()
	})
}

// A pool in use keeps what it uses, however often the collector runs. On one
// processor, as each has caches of its own: a goroutine that moves to another
// leaves behind what it has released.
func TestPoolInUseKeepsWhatItUses(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := openPool(t, "heap", Config{})
	const rounds = 50
	for range rounds {
		for range 10 {
			mustGet(t, p, 300<<10).Release()
		}
		cycle()
	}
	most := int64(1)
	if !pin.Exclusive { // then processors change their caches now and then
		most = rounds
	}
	if s := p.Stats(); s.UpstreamAllocs > most {
		t.Errorf("%+v", s)
	}
}

// There are no fewer epochs than none.
func TestTrimOfLessThanNoEpochs(t *testing.T) {
	for _, strategy := range Strategies() {
		p := openPool(t, "mmap", Config{Strategy: strategy, Guard: 1})
		mustRelease(t, mustGet(t, p, 10_000))
		p.Trim(-1)
		checkNothing(t, p)
	}
}

// Trim returns what went upstream, beside what stays.
func TestTrimReturnsWhatWent(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"})
	b := mustGet(t, p, 1000)
	mustRelease(t, mustGet(t, p, 500))
	for _, want := range []int64{500, 0} {
		if n := p.Trim(0); n != want {
			t.Errorf("%d bytes went, want %d", n, want)
		}
	}
	mustRelease(t, b)
}
