package slab

import (
	"sync"
	"testing"
)

// Scopes of a pool count what goes through its caches, too, and what was out at most.
func TestScopesOfAPoolCountGetsAndReleases(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.Statistics = true
		p := openPool(t, dev, c)
		a := mustGet(t, p, 1000)
		p.Push()
		for range 50 {
			b, d := mustGet(t, p, 40), mustGet(t, p, 60)
			mustRelease(t, b)
			mustRelease(t, d)
			if b.Release() == nil {
				t.Error("released twice")
			}
		}
		mustRelease(t, a)
		want := Counts{Allocs: 100, Frees: 101, Bytes: -1000, PeakBytes: 100, AllocatedBytes: 5000, Blocks: -1, PeakBlocks: 2}
		if got := p.Pop(); got != want {
			t.Errorf("inner scope %+v, want %+v", got, want)
		}
		want = Counts{Allocs: 101, Frees: 101, PeakBytes: 1100, AllocatedBytes: 6000, PeakBlocks: 3}
		if got := p.Counts(); got != want {
			t.Errorf("outer scope %+v, want %+v", got, want)
		}
	})
}

// Every way in which a buffer ends counts once: Grow in place and by a copy, parts, With,
// a stream, and the collector.
func TestScopesOfAPoolAgreeWithStats(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				p := openPool(t, dev, Config{Strategy: s, Statistics: true})
				b := mustGet(t, p, 100<<10)
				for _, n := range []int{90 << 10, 200 << 10, 900 << 10} {
					var err error
					if b, err = b.Grow(n); err != nil {
						t.Fatal(err)
					}
				}
				part := mustShare(t, b)
				mustRelease(t, b)
				if n := p.Counts().Blocks; n != 1 {
					t.Errorf("%d blocks while a part is out", n)
				}
				mustRelease(t, part)
				b = mustGet(t, p, 10)
				b.With(func([]byte) { mustRelease(t, b) })
				b = mustGet(t, p, 10)
				on := &queue{}
				if err := b.UsedOn(on); err != nil {
					t.Fatal(err)
				}
				mustRelease(t, b)
				on.Finish()
				mustRelease(t, mustGet(t, p, 0))
				forgetOne(t, p, 100<<10, nil)
				p.FreeHeld() // a block in a cache keeps the region of others
				if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
					t.Fatalf("%+v", p.Stats())
				}
				c, st := p.Counts(), p.Stats()
				if c.Blocks != 0 || c.Bytes != 0 || c.Allocs != c.Frees || c.Allocs != st.Hits+st.Misses || c.AllocatedBytes != st.AllocatedBytes || c.PeakBytes < 900<<10 {
					t.Errorf("%+v, %+v", c, st)
				}
			})
		}
	}
}

func TestScopesCountAllGoroutines(t *testing.T) {
	p := openPool(t, "heap", Config{Statistics: true})
	p.Push()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				mustRelease(t, mustGet(t, p, 100))
			}
		})
	}
	all.Wait()
	c := p.Pop()
	if c.Allocs != 4000 || c.Frees != 4000 || c.Bytes != 0 || c.PeakBlocks < 1 || c.PeakBlocks > 4 {
		t.Errorf("%+v", c)
	}
}

func TestScopesNeedStatisticsAndAPush(t *testing.T) {
	p := openPool(t, "heap", Config{})
	const off = "slab: scopes of a pool without Config.Statistics"
	wantPanic(t, off, p.Push)
	wantPanic(t, off, func() { p.Pop() })
	wantPanic(t, off, func() { p.Counts() })
	p = openPool(t, "heap", Config{Statistics: true})
	wantPanic(t, "slab: Pop without Push", func() { p.Pop() })
}
