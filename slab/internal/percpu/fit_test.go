package percpu

import (
	"testing"
	"time"
)

// Blocks are cached up to the largest, each as long as its class. No class is for longer ones.
func TestBlocksUpToTheLargestAreCached(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1000, Bytes: 1 << 20}) // in the class of 1024
	for _, c := range []struct {
		size   int
		cached bool
		ask    int
	}{{-1, false, -1}, {0, false, 0}, {1, true, 16}, {2, true, 16}, {100, true, 128}, {999, true, 1024}, {1000, true, 1024}, {1001, false, 1001}} {
		class, ask := s.Fit(c.size)
		if s.Caches(c.size) != c.cached || ask != c.ask || (class == s.Uncached()) == c.cached || class > s.Uncached() {
			t.Errorf("%d bytes: cached %t, class %d of %d, asks %d", c.size, s.Caches(c.size), class, s.Uncached(), ask)
		}
	}
	if class, _ := s.Fit(1000); class+1 != s.Uncached() {
		t.Errorf("classes up to %d, but %d is none", class, s.Uncached())
	}
}

// Above a bound blocks are as long as asked for, if there is a bound.
func TestBlocksAreExactAboveTheirBound(t *testing.T) {
	for above, want := range map[int][3]int{0: {16, 256, 256}, 1: {2, 250, 251}, 250: {16, 256, 251}} {
		s := oneCPU(t, Options{Largest: 1000, Bytes: 1 << 20, ExactAbove: above})
		for i, size := range []int{2, 250, 251} {
			if _, ask := s.Fit(size); ask != want[i] {
				t.Errorf("above %d: %d bytes ask for %d, want %d", above, size, ask, want[i])
			}
		}
	}
}

// A Cache for no size has no classes and keeps nothing, and counts.
func TestACacheOfNothingCounts(t *testing.T) {
	s := oneCPU(t, Options{Bytes: 1 << 20, Depot: 1 << 20})
	if class, ask := s.Fit(1); class != s.Uncached() || ask != 1 || s.Caches(1) || len(s.caches) > 0 {
		t.Errorf("class %d of %d, asks %d", class, s.Uncached(), ask)
	}
	if e, _ := s.RetryPinned(s.Uncached(), 1); e.Slot != nil {
		t.Error("a class that is not cached has a block")
	}
	s.CountGet(5)
	s.CountRelease(3)
	if u := s.Usage(); u != (Usage{Served: Served{Hits: 1, Releases: 1, Got: 5, Released: 3}}) {
		t.Errorf("%+v", u)
	}
	if s.Reclaim(false) || s.Reclaim(true) {
		t.Error("a reclaim finds blocks")
	}
}

// A Get is a miss where it has called upstream. There are no more misses than calls.
func TestMissesAreAtMostTheCalls(t *testing.T) {
	s := oneCPU(t, Options{})
	for i, c := range []struct{ calls, misses int64 }{{1, 1}, {1, 1}, {2, 2}, {2, 2}, {9, 3}, {9, 4}} {
		s.CountMiss(10, c.calls)
		if n := s.Served(); n.Misses != c.misses || n.Gets() != int64(i)+1 || n.Got != 10*n.Gets() || s.Passed() != n.Gets() {
			t.Errorf("%d calls, after %d Gets: %+v", c.calls, i+1, n)
		}
	}
}

// In a replay all calls run on the processor that RunOn says, wherever the goroutine is.
func TestAReplayRunsWhereItSays(t *testing.T) {
	s := openStore(t, Options{Largest: 1000, Bytes: 1 << 20, Processors: 3, Replayed: true})
	for _, k := range []int{-1, 2, 0, 1} {
		if k < 0 {
			k = 0 // before the first RunOn
		} else {
			s.RunOn(k)
		}
		if s.Processor() != k {
			t.Errorf("the processor is %d, not %d", s.Processor(), k)
		}
		for id := range 5 {
			for class := range s.classes {
				if s.At(id, class) != &s.cpus[k].caches[class] {
					t.Errorf("on %d class %d is that of another processor than %d", id, class, k)
				}
			}
			if p := s.cpu(id); p != &s.cpus[k] {
				t.Errorf("on %d the processor is another than %d", id, k)
			}
		}
		s.cpus[k].leave()
	}
}

// The time of a replay is what it is told, and does not go back. One that is told none has a time that grows with Gets,
// of class caches and others, and with their bytes; any other has that of a clock.
func TestAReplayHasItsOwnTime(t *testing.T) {
	s := program(t, Options{Largest: 1000, Bytes: 1 << 20, Depot: 1})
	now := s.wants.now
	var last int64
	grows := func(what string, f func()) {
		f()
		if n := now(); n <= last {
			t.Errorf("%s: %d ns, then %d", what, last, n)
		} else {
			last = n
		}
	}
	e := s.get(t, 1000)
	s.release(e, 1000)
	last = now()
	grows("a miss", func() { s.CountGet(1000) })
	grows("a hit", func() { s.release(s.get(t, 1000), 1000) })
	before := now()
	if s.CountGet(0); now()-before < 10 {
		t.Errorf("a Get of no bytes takes %d ns", now()-before)
	}
	before = now()
	s.CountGet(8)
	short := now() - before
	before = now()
	s.CountGet(8 << 20)
	if long := now() - before; long < 1000*short {
		t.Errorf("%d ns for 8 bytes, %d for 8 MiB", short, long)
	}
	for _, c := range [][2]int64{{50, 50}, {40, 50}, {51, 51}, {0, 51}} {
		if s.SetTime(c[0]); now() != c[1] {
			t.Errorf("told %d: %d, want %d", c[0], now(), c[1])
		}
	}
	first := program(t, Options{Largest: 1000, Bytes: 1 << 20})
	if first.SetTime(0); first.wants.now() > 1 {
		t.Errorf("at the begin it is %d", first.wants.now())
	}
	o := Options{}
	clock := clock(&o, new(int64), nil, nil)
	if a, b := clock(), clock(); a < 0 || b < a || b > int64(time.Hour) {
		t.Errorf("%d ns, then %d", a, b)
	}
}
