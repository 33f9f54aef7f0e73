package slab

import (
	"iter"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// No round corrupts a one-byte view that outlives its handle.
func TestForgottenHeapBufferNeverAliases(t *testing.T) {
	for _, size := range []int{1, 100, 5000, 100 << 10} {
		p := openPool(t, "heap", Config{})
		corrupt := viewRounds(bounded(t, long(t, 20), 600*time.Millisecond), func() ([]byte, func()) {
			b := mustGet(t, p, size)
			m := b.Bytes()
			return m[size-1:], func() { b.Release() }
		})
		if corrupt != 0 {
			t.Errorf("%d bytes: %d views were overwritten", size, corrupt)
		}
	}
}

// The control: a pool that recycles by a finalizer on the handle fails the
// same test, so the test can fail. It is bounded by number only.
func TestRecyclingByHandleAliases(t *testing.T) {
	type handle struct{ m []byte }
	free := make(chan []byte, 1000)
	corrupt := viewRounds(upTo(50), func() ([]byte, func()) {
		var h *handle
		select {
		case m := <-free:
			h = &handle{m}
		default:
			h = &handle{make([]byte, 100)}
		}
		runtime.SetFinalizer(h, func(h *handle) { free <- h.m })
		return h.m[99:], func() { runtime.SetFinalizer(h, nil); free <- h.m }
	})
	if corrupt == 0 {
		t.Error("no view was overwritten: the test cannot fail")
	}
}

// viewRounds forgets a handle but keeps a view of its last byte, lets the
// collector run, gets and overwrites ten buffers more, and counts the views
// that changed.
func viewRounds(rounds iter.Seq[int], get func() (last []byte, release func())) (corrupt int) {
	for range rounds {
		view, _ := get()
		view[0] = 0xA5
		cycle()
		var back []func()
		for range 10 {
			m, release := get()
			m[0] = 0x5A
			back = append(back, release)
		}
		if view[0] != 0xA5 {
			corrupt++
		}
		for _, release := range back {
			release()
		}
	}
	return corrupt
}

func TestForgottenHeapBuffersComeBack(t *testing.T) {
	p := openPool(t, "heap", Config{})
	n := long(t, 50_000)
	for i := range n {
		mustGet(t, p, 1+i%2000).Bytes()[0] = 1
	}
	p.FreeHeld()
	for range 3 {
		cycle()
	}
	p.FreeHeld()
	s := p.Stats()
	if checkNothing(t, p); s.Forgotten != int64(n) {
		t.Errorf("after three collections %+v", s)
	}
}

// forgetOne gets a buffer, uses it and forgets it.
func forgetOne(t *testing.T, p *Pool, n int, use func(PooledBuffer)) {
	t.Helper()
	b := mustGet(t, p, n)
	if use != nil {
		use(b)
	}
}

// collect runs the collector until done. What was found is counted before its memory is back, and Go 1.25
// does not tell when finalizers have ended: one more run gives them time.
func collect(p *Pool, done func(Stats) bool) bool {
	for range 10 {
		cycle()
		if done(p.Stats()) {
			cycle()
			return true
		}
	}
	return false
}

func TestForgottenOffHeapBufferComesBack(t *testing.T) {
	for _, dev := range []string{"mmap", "mmap:fixed", "virtual", "sim"} {
		t.Run(dev, func(t *testing.T) {
			pools := poolsOn(t, dev)
			for _, p := range pools {
				forgetOne(t, p, 100<<10, within)
			}
			collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 1 })
			for _, p := range pools {
				checkNoneOut(t, p)
				p.StopHolding()
				checkNothing(t, p)
			}
		})
	}
}

// Bytes of memory that the collector does not see may be in use for ever, whether they
// were reached by Bytes or by Block: the address is never handed out again, its pages
// go back and out of the budget, and a program that still uses them faults.
func TestEscapedOffHeapBytesAreQuarantined(t *testing.T) {
	for way, reach := range map[string]func(PooledBuffer) []byte{
		"Bytes": PooledBuffer.Bytes, "Block": func(b PooledBuffer) []byte { return device.Bytes(b.Block()) },
	} {
		for _, dev := range []string{"mmap", "mmap:fixed"} {
			for _, s := range Strategies() {
				t.Run(way+","+dev+","+s, func(t *testing.T) {
					p := openPool(t, dev, Config{Strategy: s})
					var view []byte
					forgetOne(t, p, 100<<10, func(b PooledBuffer) { view = reach(b) })
					if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
						t.Fatalf("%+v", p.Stats())
					}
					if s := p.Stats(); s.ActiveBlocks != 0 || s.UnusableBytes > 16<<10 {
						t.Fatalf("not in quarantine: %+v", s)
					}
					if !faults(&view[50<<10]) {
						t.Error("the view does not fault")
					}
					for range 20 {
						if b := mustGet(t, p, 100<<10); overlaps(b.Bytes(), view) {
							t.Error("the address was handed out again")
						}
					}
					checkQuiet(t, p)
				})
			}
		}
	}
}

// faults reports whether writing a byte faults. No sanitizer is to report it.
//
//go:norace
//go:noinline
func faults(b *byte) (does bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { does = recover() != nil }()
	*b = 1
	return false
}

func overlaps(a, b []byte) bool {
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// What is forgotten, and lost for good off the heap, leaves the budget: it is of no end. A
// Get that has no room looks for it. What is lost stays inaccessible, some 3,000 of the 8,192
// places that a process has for that: so it has a process of its own.
func TestBudgetOutlastsWhatIsForgotten(t *testing.T) {
	t.Parallel() // as a process of its own
	if !inChild(t) {
		return
	}
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, s := range []string{"exact", "sizeclass", "bestfit", "slab"} {
			for size, budget := range map[int]int64{100_000: 16 << 20, 20 << 20: 32 << 20} {
				p := openPool(t, dev, Config{Strategy: s, MaxBytes: budget})
				n := long(t, 500) * 100_000 / size
				for i := range n {
					b, err := p.Get(size)
					if err != nil {
						t.Fatalf("%s, %s: Get %d: %v, %+v", dev, s, i, err, p.Stats())
					}
					b.Bytes()[0] = 1
				}
				// A reading beside finalizers may miss what they find meanwhile.
				adds := func(s Stats) bool { return s.ActiveBlocks+s.Forgotten == int64(n) }
				if s := p.Stats(); !adds(s) && !collect(p, adds) || s.PeakManagedBytes > budget {
					t.Errorf("%s: %+v", dev, s)
				}
			}
		}
	}
}

// A pool that lives at its budget, and forgets nothing, does not collect for each Get
// that fails.
func TestFruitlessSearchesFade(t *testing.T) {
	var before, after runtime.MemStats
	p := openPool(t, "mmap", Config{MaxBytes: 1 << 20})
	kept := mustGet(t, p, 900<<10)
	runtime.ReadMemStats(&before)
	fail := 2000
	if raceEnabled { // one goroutine has no races, and takes half a minute
		fail = 500
	}
	for range fail {
		mustGet(t, p, 1000).Release()
		if _, err := p.Get(900 << 10); !outOfMemory(err) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.NumForcedGC - before.NumForcedGC; n < 1 || n > 10 {
		t.Errorf("%d collections for %d failing Gets", n, fail)
	}
	kept.Release()
}

// A buffer that was released with its bytes escaped is clean for the next owner.
func TestEscapeEndsWithRelease(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact"})
	forgetOne(t, p, 100<<10, func(b PooledBuffer) {
		_ = b.Bytes()
		b.Release()
	})
	forgetOne(t, p, 100<<10, nil)
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) || p.Stats().UnusableBytes != 0 {
		t.Errorf("%+v", p.Stats())
	}
}

// Blocks of every size come back where no slice can reach them, and above a page where
// one can. With sim that is what OpenCL and CUDA do.
func TestForgottenSmallBlocksComeBack(t *testing.T) {
	for dev, sizes := range map[string][]int{"sim": {1, 100, 4096, 10_000}, "mmap": {10_000, 4097}, "mmap:fixed": {10_000}} {
		for _, size := range sizes {
			pools := poolsOn(t, dev)
			for _, p := range pools {
				for range 20 {
					forgetOne(t, p, size, func(b PooledBuffer) { b.With(func([]byte) {}) })
				}
			}
			collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 20 })
			for _, p := range pools {
				checkNoneOut(t, p)
			}
		}
	}
}

func TestReportNoticesSmallOffHeapBuffers(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "slab", OnForget: "report"})
	func() { p.Get(100) }()
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	l := p.Leaks()
	if len(l) != 1 || !l[0].Forgotten || l[0].Bytes != 100 || !strings.Contains(l[0].Site, "forgotten_test.go:") {
		t.Errorf("%+v", l)
	}
	q := openPool(t, "mmap", Config{Strategy: "slab"})
	forgetOne(t, q, 100, nil)
	cycle()
	if s := q.Stats(); s.ActiveBlocks != 1 || s.Forgotten != 0 {
		t.Errorf("without report: %+v", s)
	}
}

func TestForgottenIsFreedWhereAsked(t *testing.T) {
	p := openPool(t, "heap", Config{OnForget: "free"})
	forgetOne(t, p, 100<<10, func(b PooledBuffer) { b.Bytes()[0] = 1 })
	if !collect(p, func(s Stats) bool { return s.ManagedBytes == 0 }) {
		t.Errorf("%+v", p.Stats())
	}
}

func TestLeaksNeedToBeAskedFor(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	if l := p.Leaks(); l != nil {
		t.Errorf("%+v", l)
	}
	b.Release()
}

// A buffer that comes from a cache is noticed like any other.
func TestForgottenFromTheCacheComesBack(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "sim"} {
		for _, size := range []int{100 << 10, 90 << 10} { // of the class, and of one below
			const n = 3
			var p *Pool
			for range 100 { // the goroutine may move in between
				p = openPool(t, dev, Config{Strategy: "sizeclass"})
				var live [n]PooledBuffer
				for i := range live {
					live[i] = mustGet(t, p, 100<<10)
				}
				for _, b := range live {
					b.Release()
				}
				clear(live[:])
				for range n {
					forgetOne(t, p, size, nil)
				}
				if p.Stats().Hits == n {
					break
				}
			}
			if p.Stats().Hits != n {
				t.Errorf("%s: buffers of %d bytes never come from a cache", dev, size)
			}
			if !collect(p, func(s Stats) bool { return s.Forgotten == n && s.ActiveBlocks == 0 }) {
				t.Errorf("%s: buffers of %d bytes: %+v", dev, size, p.Stats())
			}
		}
	}
}

// A slice of no bytes keeps nothing from coming back.
func TestForgottenEmptyBufferComesBack(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		func() { mustGet(t, p, 0).Bytes() }()
		cycle()
		if s := p.Stats(); s.Forgotten > 1 || s.UnusableBytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}
