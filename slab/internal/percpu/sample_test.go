package percpu

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/slab/internal/profile"
)

// pairs makes so many pairs, and adds up what the sampled ones stand for.
func (s *store) pairs(n, size int) (found float64) {
	class := s.Class(size)
	for range n {
		on := s.Pin()
		c := s.At(on.ID(), class)
		e, stands := c.pop(size), 0.0
		if e.Slot == nil {
			e, stands = s.Retry(on.ID(), class, size)
		}
		c.Push(e, size)
		s.Unpin(on)
		found += stands
	}
	return found
}

// Each hit of a class cache is as likely to be sampled as its block is long beside the rate.
func TestHitsAreSampled(t *testing.T) {
	const n = 400_000
	for _, size := range []int{16, 1 << 10, 64 << 10} {
		pace := profile.NewPace(32 << 10)
		pace.Hold()
		s := oneCPU(t, Options{Largest: 64 << 10, Bytes: 1 << 20, Depot: 1, Pace: pace})
		s.wants.earned[s.Class(size)].Store(1) // of the largest no block is for the asking
		s.release(s.get(t, size), size)
		found := s.pairs(n, size)
		block := s.BlockBytes(s.Class(size))
		if most := 6 * math.Sqrt(n*pace.Weight(block, 0)); math.Abs(found-n) > most {
			t.Errorf("%d bytes: %.0f found of %d, which is more than %.0f off", size, found, n, most)
		}
		if gets := s.Usage().Gets(); gets != n+1 || s.Gets() != gets {
			t.Errorf("%d and %d Gets counted of %d", gets, s.Gets(), n+1)
		}
	}
}

// So is each miss, also where distances are cut within it. The next look is never far.
func TestMissesAreSampled(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		size int
		rate int64
	}{{1, 1}, {1 << 10, 256 << 20}, {1 << 20, 256 << 20}, {100 << 20, 256 << 20}, {1 << 30, 256 << 20}} {
		pace := profile.NewPace(c.rate)
		pace.Hold()
		s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1, Pace: pace})
		var found float64
		for range n {
			found += s.CountGet(c.size)
			s.counts.release(c.size)
			if ahead := s.counts.due - s.counts.Got; ahead > mostBytes {
				t.Fatalf("%d bytes: the next look comes after %d", c.size, ahead)
			}
		}
		if most := 6 * math.Sqrt(n*pace.Weight(int64(c.size), 0)); math.Abs(found-n) > most {
			t.Errorf("%d bytes: %.0f found of %d, which is more than %.0f off", c.size, found, n, most)
		}
	}
}

// A Get of no bytes is no sample, however near the next one is.
func TestNoBytesAreNoSample(t *testing.T) {
	s := oneCPU(t, Options{Pace: profile.NewPace(1)})
	for range 100 {
		if stands := s.CountGet(0); stands != 0 {
			t.Fatalf("it stands for %f", stands)
		}
		s.CountGet(10)
	}
}

// A distance that was drawn in a burst is cut, by hits and by misses. At the cut the scale falls if there is time.
func TestACutLooksForTime(t *testing.T) {
	for name, get := range map[string]func(s *store){
		"hits":   func(s *store) { s.pairs(mostGets+2, 100) },
		"misses": func(s *store) { s.CountGet(mostBytes + 1) },
	} {
		synctest.Test(t, func(t *testing.T) {
			pace := profile.NewPace(1 << 50) // so far that what is got here meets no sample
			s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1, Pace: pace})
			s.release(s.get(t, 100), 100)
			for range 1100 { // some beyond the free ones, all at once
				pace.Spend(time.Now())
			}
			_, burst := pace.Draw(math.MaxInt64)
			time.Sleep(24 * time.Hour)
			get(s)
			if _, after := pace.Draw(math.MaxInt64); burst == 0 || after != 0 {
				t.Errorf("%s: scale %d, and after a day %d", name, burst, after)
			}
		})
	}
}

// A class cache that samples nothing counts on where its count is full.
func TestGetsAreCountedBeyondTheCount(t *testing.T) {
	for name, pace := range map[string]*profile.Pace{"none": nil, "off": profile.NewPace(0), "far": profile.NewPace(1 << 60)} {
		s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1, Pace: pace})
		s.release(s.get(t, 100), 100)
		k := s.At(0, s.Class(100))
		k.state += (dueGets - 4) * oneGet // as if so many hits had been
		if k.isDue() {
			k.state -= oneGet
		}
		counted := s.Usage().Gets()
		if found := s.pairs(100, 100); found != 0 || s.Usage().Gets() != counted+100 {
			t.Errorf("%s: %f found, %d and then %d Gets", name, found, counted, s.Usage().Gets())
		}
	}
}

// A class cache is due until it serves a Get: one that it has no block for is not sampled.
func TestDueWaitsForABlock(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1, Pace: profile.NewPace(1)})
	e := s.get(t, 100)
	s.release(e, 100)
	k := s.At(0, s.Class(100))
	if e = s.get(t, 100); !k.isDue() {
		t.Fatal("the rate is a byte, and the class cache is not due")
	}
	for range 3 {
		if e, stands := s.RetryPinned(s.Class(100), 100); e.Slot != nil || stands != 0 || !k.isDue() {
			t.Fatalf("%v stands for %f", e, stands)
		}
	}
	s.release(e, 100)
	if e, stands := s.RetryPinned(s.Class(100), 100); e.Slot == nil || stands != 1 {
		t.Errorf("%v stands for %f", e, stands)
	}
}

// Class caches that were filled from the depot alone are sampled, too.
func TestWhatComesFromTheDepotIsSampled(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1 << 20, Pace: profile.NewPace(1)})
	class := s.Class(100)
	m := &magazine{class: int32(class), n: 2}
	for i := range m.n {
		m.entries[i] = s.get(t, 100)
	}
	s.depot.push(m, 0)
	s.get(t, 100)
	if k := s.At(0, class); k.n() != 1 || !k.state.isArmed() || !k.isDue() {
		t.Errorf("state %x", k.state)
	}
}

// A class cache that is due and empty stays due when a magazine of the depot fills it: its sample is not lost.
func TestTheDepotTakesNoSampleAway(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1 << 20, Pace: profile.NewPace(1)})
	class := s.Class(100)
	m := &magazine{class: int32(class), n: 3}
	for i := range m.n {
		m.entries[i] = s.get(t, 100)
	}
	s.release(s.get(t, 100), 100)
	s.get(t, 100)
	k := s.At(0, class)
	if k.n() != 0 || !k.isDue() {
		t.Fatalf("%d blocks, due %t, want a class cache that is empty and due", k.n(), k.isDue())
	}
	s.options.Pace = profile.NewPace(1 << 60) // a new draw would not be due for long
	s.depot.push(m, 0)
	s.get(t, 100)
	if k.n() != 2 || !k.isDue() {
		t.Errorf("%d blocks from the depot, due %t", k.n(), k.isDue())
	}
}

// A reclaim of what is idle spares a class cache that only Gets or only Releases have used.
func TestTouched(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	p, class := &s.cpus[0], s.Class(100)
	a, b := s.get(t, 100), s.get(t, 100)
	s.release(a, 100)
	for name, use := range map[string]func(){
		"Release": func() { s.release(b, 100) },
		"Get":     func() { b = s.get(t, 100) },
	} {
		p.look()
		before := p.takes(class, true) == everything
		use()
		if after := p.takes(class, true) == everything; !before || after {
			t.Errorf("%s: idle before %t, idle after %t", name, before, after)
		}
	}
}

// isDue reports whether the next Get from c is to be sampled, or to arm c.
func (c *ClassCache) isDue() bool { return int32(c.state) < 0 }
