package slab

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// forgetOne gets a buffer, uses it and forgets it.
func forgetOne(t *testing.T, p *Pool, n int, use func(PooledBuffer)) {
	t.Helper()
	b := mustGet(t, p, n)
	if use != nil {
		use(b)
	}
}

func collect(p *Pool, done func(Stats) bool) bool {
	for range 10 {
		cycle()
		if done(p.Stats()) {
			return true
		}
	}
	return false
}

func TestForgottenOffHeapBufferComesBack(t *testing.T) {
	for _, dev := range []string{"mmap", "mmap:fixed", "virtual", "sim"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				p := openPool(t, dev, Config{Strategy: s})
				forgetOne(t, p, 100<<10, func(b PooledBuffer) { b.With(func(m []byte) {}) })
				if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
					t.Fatalf("%+v", p.Stats())
				}
				s := p.Stats()
				if s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.UnusableBytes != 0 {
					t.Errorf("%+v", s)
				}
				checkQuiet(t, p)
				p.StopHolding()
				if s := p.Stats(); s.ManagedBytes != 0 {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// Bytes of memory that the collector does not see may be in use for ever: the
// address is never handed out again.
func TestEscapedOffHeapBytesAreQuarantined(t *testing.T) {
	for _, dev := range []string{"mmap", "mmap:fixed"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				p := openPool(t, dev, Config{Strategy: s})
				var view []byte
				forgetOne(t, p, 100<<10, func(b PooledBuffer) { view = b.Bytes() })
				if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
					t.Fatalf("%+v", p.Stats())
				}
				if s := p.Stats(); s.UnusableBytes < 100<<10 || s.ActiveBlocks != 0 {
					t.Errorf("%+v", s)
				}
				view[0] = 1
				for range 50 {
					b := mustGet(t, p, 100<<10)
					b.Bytes()[0] = 2
				}
				if view[0] != 1 {
					t.Error("the address was handed out again")
				}
				checkQuiet(t, p)
			})
		}
	}
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

func TestReportNoticesSmallOffHeapBuffers(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "slab", OnForget: "report"})
	func() {
		if _, err := p.Get(100); err != nil {
			t.Fatal(err)
		}
	}()
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	l := p.Leaks()
	if len(l) != 1 || !l[0].Forgotten || l[0].Bytes != 100 || !strings.Contains(l[0].Site, "forget_off_test.go:") {
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

// Forgotten off-heap memory does not drive the collector; the valve does.
func TestValveBoundsForgottenOffHeapMemory(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact", GCValve: 8 << 20})
	for range 400 {
		forgetOne(t, p, 1<<20, func(b PooledBuffer) { b.With(func(m []byte) { m[0] = 1 }) })
	}
	if s := p.Stats(); s.PeakManagedBytes > 20<<20 {
		t.Errorf("400 MiB forgotten, peak %d", s.PeakManagedBytes)
	}
}

// Memory that grows and is released in turns is collected for a few times only,
// and what is forgotten after that is noticed all the same.
func TestValveLearnsWhatIsReleased(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	collections := func() (n uint32) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	p := openPool(t, "mmap", Config{Strategy: "slab", GCValve: 1 << 20})
	var live [16]PooledBuffer
	swing := func() uint32 {
		before := collections()
		for range 100 {
			for i := range live {
				live[i] = mustGet(t, p, 1<<20)
			}
			for _, b := range live {
				b.Release()
			}
		}
		return collections() - before
	}
	if n := swing(); n < 1 || n > 5 {
		t.Errorf("%d collections", n)
	}
	if n := swing(); n != 0 {
		t.Errorf("%d collections more", n)
	}
	before := collections()
	for range 400 {
		forgetOne(t, p, 1<<20, nil)
	}
	if n := collections() - before; n < 50 {
		t.Errorf("%d collections for 400 MiB forgotten", n)
	}
	if s := p.Stats(); s.PeakManagedBytes > 48<<20 {
		t.Errorf("400 MiB forgotten, peak %d", s.PeakManagedBytes)
	}
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
