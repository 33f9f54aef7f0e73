package slab

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab/internal/guard"
)

// guarded opens a pool that guards each buffer, and keeps what it finds.
func guarded(t *testing.T, dev string, c Config) (*Pool, *guardFaults) {
	f := &guardFaults{told: make(chan *GuardError, 10_000)}
	c.Guard, c.Logger = 1, slog.New(slog.DiscardHandler)
	c.Hooks = &Hooks{Guard: func(e *GuardError) { f.told <- e }}
	return openPool(t, dev, c), f
}

type guardFaults struct{ told chan *GuardError }

// next waits for n faults.
func (f *guardFaults) next(n int) (list []*GuardError) {
	for range n {
		list = append(list, <-f.told)
	}
	return list
}

// wantStacks fails unless e names the functions of this file that got and released.
func wantStacks(t *testing.T, e *GuardError, got, released string) {
	t.Helper()
	text := e.Error()
	_, stacks, _ := strings.Cut(text, "got at\n")
	before, after, _ := strings.Cut(stacks, "released at\n")
	if !strings.Contains(before, got) || !strings.Contains(after, released) || strings.Contains(after, "slab.PooledBuffer") {
		t.Errorf("%s", text)
	}
}

//go:noinline
func getGuarded(t *testing.T, p *Pool, size int) PooledBuffer { return mustGet(t, p, size) }

//go:noinline
func releaseGuarded(t *testing.T, b PooledBuffer) { mustRelease(t, b) }

// writeAfterRelease writes a byte after Release.
//
//go:noinline
func writeAfterRelease(t *testing.T, p *Pool, size, at int) {
	b := getGuarded(t, p, size)
	m := b.Bytes()
	releaseGuarded(t, b)
	m[at] ^= 0xFF
}

// On the Go heap each write after Release is found, with its place: when the collector has
// found that no view is left, or when the pool gives back.
func TestGuardFindsWritesAfterRelease(t *testing.T) {
	find := map[string]func(*Pool){
		"collected": func(p *Pool) {
			for p.Stats().WithheldBytes > 0 {
				cycle()
			}
		},
		"given back": (*Pool).FreeHeld,
		"trimmed":    func(p *Pool) { p.Trim(0) },
		"closed":     func(p *Pool) { p.Close() },
	}
	for _, s := range Strategies() {
		for how, find := range find {
			t.Run(s+","+how, func(t *testing.T) {
				defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is just found cannot be read
				p, f := guarded(t, "heap", Config{Strategy: s})
				at, size := map[int]int{}, map[int]int{}
				for i := range 100 {
					size[i] = 16 + rand.IntN(20_000)
					at[i] = rand.IntN(size[i])
					writeAfterRelease(t, p, size[i], at[i])
					checkQuiet(t, p)
				}
				find(p)
				seen := map[int]int{}
				for _, e := range f.next(100) {
					seen[e.Offset]++
					wantStacks(t, e, "slab.getGuarded", "slab.releaseGuarded")
					if e.Outlived {
						t.Errorf("%v", e)
					}
				}
				for i := range 100 {
					if seen[at[i]]--; seen[at[i]] < 0 {
						t.Errorf("the write at %d is not found", at[i])
					}
				}
				if s := p.Stats(); s.GuardFaults != 100 || s.Guarded != 100 || s.WithheldBytes != 0 {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// Close returns what was written.
func TestCloseReturnsWhatAGuardFound(t *testing.T) {
	p, _ := guarded(t, "heap", Config{Name: "api"})
	writeAfterRelease(t, p, 1000, 7)
	var e *GuardError
	if err := p.Close(); !errors.As(err, &e) || e.Pool != "api" || e.Offset != 7 || e.Bytes != 1008 && e.Bytes != 1024 && e.Bytes != 1000 {
		t.Errorf("%v", err)
	}
}

// On the Go heap each view is found that outlives its buffer by some collections and a second.
func TestGuardFindsViewsThatOutliveTheirBuffers(t *testing.T) {
	t.Parallel() // it waits for linger, most of the time
	p, f := guarded(t, "heap", Config{})
	var views [][]byte
	start := time.Now()
	for i := range 100 {
		b := getGuarded(t, p, 100*(i+1))
		views = append(views, b.Bytes()[1:2])
		releaseGuarded(t, b)
	}
	for range 5 {
		cycle()
	}
	<-time.After(linger)
	for p.Stats().GuardFaults < 100 {
		cycle()
	}
	if d := time.Since(start); d < linger {
		t.Errorf("told after %v", d)
	}
	for _, e := range f.next(100) {
		wantStacks(t, e, "slab.getGuarded", "slab.releaseGuarded")
		if !e.Outlived || !strings.Contains(e.Error(), "still reaches") {
			t.Errorf("%v", e)
		}
	}
	for range 5 {
		cycle()
	}
	runtime.KeepAlive(views)
	if s := p.Stats(); s.GuardFaults != 100 || s.WithheldBytes == 0 {
		t.Errorf("%+v", s)
	}
	views = nil
	for p.Stats().WithheldBytes > 0 {
		cycle()
	}
	if err := p.Close(); err != nil || p.Stats().GuardFaults != 100 {
		t.Errorf("%v, %+v", err, p.Stats())
	}
}

// faultAt calls f, and returns the address that it faults at.
func faultAt(t *testing.T, f func()) (addr uintptr) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e, ok := recover().(interface{ Addr() uintptr }); ok {
			addr = e.Addr()
			return
		}
		t.Error("there is no fault")
	}()
	f()
	return 0
}

// On mmap each use after Release faults, and the pool knows whose memory that was.
func TestGuardMakesPagesInaccessible(t *testing.T) {
	for _, dev := range []string{"mmap", "mmap:fixed"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				p, _ := guarded(t, dev, Config{Strategy: s})
				for i := range 100 {
					size := 1 + rand.IntN(20_000)
					at := rand.IntN(size)
					b := getGuarded(t, p, size)
					m := b.Bytes()
					releaseGuarded(t, b)
					addr := faultAt(t, func() {
						if i%2 == 0 {
							m[at] = 1
						} else if m[at] == 0 {
							t.Error("it can be read")
						}
					})
					e := p.GuardFault(addr)
					if e == nil || e.Offset != at || e.Outlived {
						t.Fatalf("%v", e)
					}
					wantStacks(t, e, "slab.getGuarded", "slab.releaseGuarded")
					checkQuiet(t, p)
				}
				if s := p.Stats(); s.Guarded != 100 || s.WithheldBytes < 100*page {
					t.Errorf("%+v", s)
				}
				p.FreeHeld()
				if e := p.GuardFault(1); e != nil || p.Stats().WithheldBytes != 0 {
					t.Errorf("%v, %+v", e, p.Stats())
				}
			})
		}
	}
}

// Memory that is neither the collector's nor has pages of its own has the pattern.
func TestGuardVerifiesOtherMemory(t *testing.T) {
	for name, c := range map[string]Config{"sim": {}, "an upstream that cuts regions": {Strategy: "direct"}} {
		t.Run(name, func(t *testing.T) {
			on := Allocator(openDevice(t, "sim"))
			if name != "sim" {
				s, err := NewStrategy("slab", openDevice(t, "mmap"), Config{})
				if err != nil {
					t.Fatal(err)
				}
				on = s
			}
			told := make(chan *GuardError, 100)
			c.Guard, c.Logger, c.Hooks = 1, slog.New(slog.DiscardHandler), &Hooks{Guard: func(e *GuardError) { told <- e }}
			p := mustOpen(t, on, c)
			if mustGet(t, p, 1).Bytes() == nil {
				t.Skip("the CPU cannot reach it")
			}
			writeAfterRelease(t, p, 5000, 4321)
			p.FreeHeld()
			e := <-told
			wantStacks(t, e, "slab.getGuarded", "slab.releaseGuarded")
			if e.Offset != 4321 {
				t.Errorf("%v", e)
			}
		})
	}
}

// A program that makes no mistake hears of none, whatever it does with its buffers.
func TestGuardFindsNothingInAGoodProgram(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		t.Run(dev, func(t *testing.T) {
			p, _ := guarded(t, dev, Config{})
			n := long(t, 1_500)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { useWell(t, p, n/4) })
			}
			wg.Wait()
			for range 5 {
				cycle()
			}
			checkNoneOut(t, p)
			if s := p.Stats(); s.GuardFaults != 0 || s.Guarded < int64(n) {
				t.Errorf("%+v", s)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			checkNothing(t, p)
		})
	}
}

// useWell gets, uses and releases about n buffers, in all the ways there are.
func useWell(t *testing.T, p *Pool, n int) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var out []PooledBuffer
	for i := range n {
		b, err := p.Get(1 + r.IntN(10_000))
		if err != nil {
			t.Error(err)
			return
		}
		b.Bytes()[0] = 1
		switch i % 16 {
		case 0:
			if b, err = b.Grow(20_000); err != nil {
				t.Error(err)
				return
			}
		case 1:
			part, err := b.Slice(0, 1)
			if err != nil {
				t.Error(err)
				return
			}
			mustRelease(t, b)
			b = part
		case 2:
			m, err := p.GetBytes(100)
			if err == nil {
				err = p.Put(m)
			}
			if err != nil {
				t.Error(err)
			}
		}
		out = append(out, b)
		if k := r.IntN(len(out)); len(out) > 20 {
			mustRelease(t, takeAt(&out, k))
		}
		if i%2000 == 0 {
			runtime.GC()
		}
	}
	releaseAll(t, out)
}

// What is withheld is bounded, and no reason for a Get to fail.
func TestWithheldMemoryIsBoundedAndComesBack(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p, _ := guarded(t, dev, Config{MaxBytes: 1 << 20})
		for range 100 {
			mustRelease(t, mustGet(t, p, 100<<10))
			mustRelease(t, mustGet(t, p, 900<<10))
			checkQuiet(t, p)
		}
		p, _ = guarded(t, dev, Config{})
		for range 700 {
			mustRelease(t, mustGet(t, p, 64))
			mustRelease(t, mustGet(t, p, 100_000))
			if s := p.Stats(); s.WithheldBytes > 64<<20 {
				t.Fatalf("%+v", s)
			}
		}
		p.FreeHeld()
		if s := p.Stats(); s.WithheldBytes != 0 {
			t.Errorf("%+v", s)
		}
		checkNoneOut(t, p)
	}
}

// A guarded buffer that is forgotten comes back as others do.
func TestGuardedBuffersCanBeForgotten(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p, _ := guarded(t, dev, Config{})
		for range 50 {
			forgetOne(t, p, 100<<10, func(b PooledBuffer) { b.With(func(m []byte) { m[0] = 1 }) })
			forgetOne(t, p, 100<<10, func(b PooledBuffer) { b.Bytes()[0] = 1 })
		}
		if !collect(p, func(s Stats) bool { return s.Forgotten == 100 }) {
			t.Fatalf("%+v", p.Stats())
		}
		p.FreeHeld()
		for p.Stats().ManagedBytes > 0 { // what is withheld no more may be on its way upstream
			cycle()
		}
		checkNoneOut(t, p)
		if s := p.Stats(); s.GuardFaults != 0 {
			t.Errorf("%+v", s)
		}
		p.Close()
		checkNothing(t, p)
	}
}

// Of a program that the caches serve alone some buffers are drawn after collections, and the
// caches serve it again afterwards.
func TestGuardDrawsWhatCachesServe(t *testing.T) {
	const every = 100
	p := openPool(t, "heap", Config{Guard: every})
	pairs := func(n int) {
		for range n {
			mustRelease(t, mustGet(t, p, 4096))
		}
	}
	for turns := range 3 {
		for before := p.Stats().Guarded; p.Stats().Guarded < before+64; {
			pairs(256 * every)
			cycle()
		}
		if s := p.Stats(); s.Guarded > s.Hits/every {
			t.Errorf("turn %d: %+v", turns, s)
		}
	}
	eventually(t, "the caches serve again", func() bool {
		pairs(100)
		before := p.pool.cache.Passed()
		pairs(100)
		return p.pool.cache.Passed() == before
	})
}

// So are some of a pool whose buffers are so long that few are guarded, and its caches serve it again.
func TestATurnEndsThatDrawsLittle(t *testing.T) {
	p := openPool(t, "mmap", Config{Guard: 2})
	// Gets have to be quick, or the block does not earn its place in a cache: looks for the peak are slow under the
	// race detector, which sees each counter.
	p.pool.peak.enough = 1 << 40
	often := func() {
		for range 3000 {
			mustRelease(t, mustGet(t, p, cachedLimit))
		}
	}
	eventually(t, "a turn begins", func() bool {
		often()
		cycle()
		return p.pool.guard.InTurn()
	})
	eventually(t, "the caches serve", func() bool {
		often()
		before := p.pool.cache.Passed()
		mustRelease(t, mustGet(t, p, cachedLimit))
		return p.pool.cache.Passed() == before
	})
	if s := p.Stats(); s.Guarded > s.Hits/64 {
		t.Errorf("%+v", s)
	}
}

// What is withheld is unusable, and not held.
func TestWithheldBytesAreUnusable(t *testing.T) {
	p, _ := guarded(t, "mmap", Config{Strategy: "direct"})
	mustRelease(t, mustGet(t, p, 5000))
	if s := p.Stats(); s.WithheldBytes < 5000 || s.UnusableBytes != s.WithheldBytes || s.HeldBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// A fault is of the block whose pages it is in, and of none if it is before or behind them.
func TestGuardFaultBesideABlock(t *testing.T) {
	p, _ := guarded(t, "mmap", Config{Strategy: "direct"})
	b := mustGet(t, p, 5000)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))
	size := uintptr(b.Block().Region.Size())
	mustRelease(t, b)
	for addr, want := range map[uintptr]bool{at - 1: false, at: true, at + size - 1: true, at + size: false} {
		if e := p.GuardFault(addr); (e != nil) != want {
			t.Errorf("at offset %d: %v", int(addr-at), e)
		}
	}
}

// A buffer that is not guarded grows in place as without a guard; one that is does not.
func TestGrowInPlaceBesideAGuard(t *testing.T) {
	for c, want := range map[Config]bool{{Strategy: "slab", Guard: 1 << 30}: true, {Strategy: "slab", Guard: 1}: false, {Strategy: "exact", Guard: 1 << 30}: false} {
		c.CacheBytes = -1
		p := openPool(t, "mmap", c)
		b := mustGet(t, p, 100<<10)
		before := unsafe.SliceData(b.Bytes())
		b = mustGrow(t, b, 200<<10)
		if same := unsafe.SliceData(b.Bytes()) == before; same != want {
			t.Errorf("%v: in place %t", c, same)
		}
		mustRelease(t, b)
	}
}

// A block that guard has for a Grow is one of its own. All bytes that guard has are apart from those of the strategy.
func TestAGuardHasBytesOfItsOwn(t *testing.T) {
	for _, strategy := range []string{"bestfit", "slab"} {
		p := openPool(t, "mmap", Config{Strategy: strategy, Guard: 1})
		apart := func(when string) {
			t.Helper()
			if n, u := p.pool.managed(), usageOf(p.pool.strategy, 0); n != u.ManagedBytes() {
				t.Errorf("%s: the strategy has %d bytes, its Usage %d", when, n, u.ManagedBytes())
			}
		}
		b, extent, ok := p.pool.blocks.AllocRoomy(1<<20 + 1)
		if !ok || extent != guard.Extent {
			t.Fatalf("%s: extent %d, %v", strategy, extent, ok)
		}
		apart("active")
		p.pool.blocks.FreeExtent(b, extent)
		apart("withheld")
		if s := p.Stats(); s.WithheldBytes < 1<<20 || s.UnusableBytes < s.WithheldBytes {
			t.Errorf("%s: %+v", strategy, s)
		}
		check.Must(t, p.Close())
	}
}

// A hundred writes after Release are kept for Close.
func TestAGuardKeepsAHundredFaults(t *testing.T) {
	var g guarding
	for range 150 {
		g.keep(errLost)
	}
	if n := strings.Count(g.err().Error(), "lost"); n != 100 {
		t.Errorf("%d", n)
	}
}
