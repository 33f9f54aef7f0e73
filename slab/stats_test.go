package slab

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
)

// A reader calls read as it takes a block back.
type reader struct {
	source
	read func()
}

func (r *reader) Free(b device.Block) {
	if r.read != nil {
		r.read()
	}
	r.source.Free(b)
}

// The identity of Stats holds in every reading, also while memory goes upstream.
func TestStatsAddUpWhileMemoryGoesUpstream(t *testing.T) {
	for name, back := range map[string]func(*Pool){
		"Trim": func(p *Pool) { p.Trim(0) }, "FreeHeld": (*Pool).FreeHeld, "StopHolding": (*Pool).StopHolding,
	} {
		for _, s := range keepers() {
			t.Run(name+","+s, func(t *testing.T) {
				up := &reader{}
				p := mustOpen(t, up, Config{Strategy: s})
				var live []PooledBuffer
				for i := range 100 {
					live = append(live, mustGet(t, p, 1000*(i+1)))
				}
				releaseAll(t, live)
				readings := 0
				up.read = func() { checkQuiet(t, p); readings++ }
				if back(p); readings == 0 {
					t.Error("no reading")
				}
				checkNothing(t, p)
				up.read = nil // which keeps the pool
			})
		}
	}
}

// And while another goroutine trims.
func TestStatsAddUpBesideATrim(t *testing.T) {
	p := openPool(t, "heap", Config{})
	for range bounded(t, long(t, 30), 500*time.Millisecond) {
		var live []PooledBuffer
		for i := range 60 {
			live = append(live, mustGet(t, p, 1000*(i+1)))
		}
		releaseAll(t, live)
		done := make(chan struct{})
		go func() { p.Trim(0); close(done) }()
		for trimming := true; trimming; {
			select {
			case <-done:
				trimming = false
			default:
				checkQuiet(t, p)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// AllocatedBytes adds up what every Get has asked for: hits, misses, empty buffers, and a
// Grow, which counts as a Get.
func TestAllocatedBytesAreThoseOfAllGets(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		want := int64(0)
		for i := range 300 {
			b := mustGet(t, p, 37*i)
			mustRelease(t, b)
			want += int64(37 * i)
		}
		b, err := mustGet(t, p, 1000).Grow(999)
		if err != nil {
			t.Fatal(err)
		}
		mustRelease(t, b)
		if s := p.Stats(); s.AllocatedBytes != want+1999 || s.ActiveBytes != 0 {
			t.Errorf("%d bytes, want %d: %+v", s.AllocatedBytes, want+1999, s)
		}
	})
}

// Calls upstream without a Get, or before it is counted, are no Misses beyond the Gets.
func TestMissesAreNoMoreThanGets(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"})
	for gets := range int64(3) {
		for range 2 {
			p.pool.accounting.Free(mustAlloc(t, p.pool.accounting, 1000))
		}
		if s := p.Stats(); s.Misses != gets || s.Hits != 0 || s.UpstreamAllocs < 2*gets+2 {
			t.Errorf("%d Gets: %+v", gets, s)
		}
		mustRelease(t, mustGet(t, p, 100+int(gets)))
	}
}

// A reading that has seen a Release and not its Get says that nothing is out; its bytes still
// add up. What Close and these tests look at tells of it.
func TestActiveIsNeverLessThanNothing(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"})
	p.pool.cache.CountRelease(100)
	s := p.Stats()
	if s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.ManagedBytes != s.RoundingBytes+s.HeldBytes+s.UnusableBytes {
		t.Errorf("%+v", s)
	}
	for m := range p.Metrics() {
		if m.Value < 0 {
			t.Errorf("%+v", m)
		}
	}
	if s := p.pool.stats(); s.ActiveBlocks != -1 || s.ActiveBytes != -100 {
		t.Errorf("a Release too many is not seen: %+v", s)
	}
	p.pool.cache.CountGet(100)
	checkNoneOut(t, p)
}

// What is released between two readings is missing. If it is much the next reading counts.
func TestACountOfWhatIsOutLooksAgain(t *testing.T) {
	p := openPool(t, "heap", Config{})
	kept := mustGet(t, p, 64_000)
	mustRelease(t, mustGet(t, p, 500_000)) // before both
	for _, c := range []struct {
		released int
		want     int64
	}{{100, 63_900}, {30_000, 64_000}, {90_000, 64_000}} {
		before := p.pool.cache.Served()
		mustRelease(t, mustGet(t, p, c.released))
		var s Stats
		if p.pool.countOut(&s, before, p.pool.cache.Served()); s.ActiveBytes != c.want {
			t.Errorf("%d bytes of 64,000 beside a Release of %d, want %d", s.ActiveBytes, c.released, c.want)
		}
	}
	mustRelease(t, kept)
}

// A pool that was just opened has nothing, and nothing has happened.
func TestStatsOfANewPoolAreZero(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if s := openPool(t, dev, c).Stats(); s != (Stats{}) {
			t.Errorf("%+v", s)
		}
	})
}
