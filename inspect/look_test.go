package inspect

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A slow allocator takes a while to say what it holds.
type slow struct {
	slab.Allocator
	takes time.Duration
	asked int
}

// FreeHeld and StopHolding make it a slab.Holder, whose Usage a pool asks for.
func (s *slow) FreeHeld()    {}
func (s *slow) StopHolding() {}

func (s *slow) Usage() slab.Usage {
	s.asked++
	time.Sleep(s.takes)
	return slab.Usage{}
}

// slowly is a pool on such an allocator, and how often it was asked.
func slowly(t *testing.T, takes time.Duration) (p *slab.Pool, looks func() int) {
	d := check.Ok(device.Open("heap"))(t)
	a := &slow{Allocator: d}
	p = check.Ok(slab.Open(a, slab.Config{Strategy: "direct"}))(t)
	t.Cleanup(func() { _ = p.Close() })
	Handler(p).(*handler).look()
	once := a.asked
	a.asked, a.takes = 0, takes/time.Duration(once)
	return p, func() int { return a.asked / once }
}

// However many ask, pools are asked twice a second at most, and for a tenth of the time at most.
// In between all see the same. A handler has no goroutine: the bubble would not end.
func TestPoolsAreAskedNowAndThen(t *testing.T) {
	for takes, want := range map[time.Duration]time.Duration{0: 500 * time.Millisecond, 12 * time.Millisecond: 500 * time.Millisecond, 12 * time.Second: 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p, looks := slowly(t, takes)
			h := Handler(p).(*handler)
			start := time.Now()
			for time.Since(start) < want {
				h.look()
				time.Sleep(5 * time.Millisecond)
			}
			if n := looks(); n != 1 {
				t.Errorf("%d looks that took %v within %v", n, takes, want)
			}
			if h.look(); looks() != 2 {
				t.Errorf("%d looks that took %v after %v", looks(), takes, want)
			}
			p.Close()
		})
	}
}

// Five minutes are kept, of the time that somebody looked.
func TestHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := check.Ok(slab.OpenConfig(slab.Config{Idle: -1}))(t)
		defer p.Close()
		h := Handler(p).(*handler)
		for range 150 {
			h.look()
			time.Sleep(3 * time.Second)
		}
		list := h.history[0]
		if n := len(list); n != 101 || list[n-1].at.Sub(list[0].at) != 5*time.Minute {
			t.Errorf("%d samples of %v", n, list[n-1].at.Sub(list[0].at))
		}
		time.Sleep(time.Hour)
		if h.look(); len(h.history[0]) != 1 {
			t.Errorf("%d samples after an hour", len(h.history[0]))
		}
	})
}

// A history of samples, so many seconds apart.
func samples(apart ...int) (list []sample) {
	at := time.Unix(0, 0)
	for i, seconds := range apart {
		at = at.Add(time.Duration(seconds) * time.Second)
		list = append(list, sample{at, int64(50 * i), 100, int64(100 * i), int64(i)})
	}
	return list
}

// A sparkline spans a minute or what is known, from nothing to the highest value, and has
// a gap where no one looked.
func TestSparklines(t *testing.T) {
	for _, c := range []struct {
		history []sample
		points  func([]sample) []point
		want    sparkline
	}{
		{samples(0), memory, sparkline{"", "60 s", "100 B", [2]line{
			{"a", "M600.0 4.0h0L600.0 4.0", "M600.0 100L600.0 4.0L600.0 100z"},
			{"b", "M600.0 100.0h0L600.0 100.0", "M600.0 100L600.0 100.0L600.0 100z"}}}},
		{samples(0, 10, 90, 1), memory, sparkline{"", "101 s", "150 B", [2]line{
			{"a", "M0.0 36.0h0L0.0 36.0L59.4 36.0M594.1 36.0h0L594.1 36.0L600.0 36.0", "M0.0 100L0.0 36.0L59.4 36.0L59.4 100zM594.1 100L594.1 36.0L600.0 36.0L600.0 100z"},
			{"b", "M0.0 100.0h0L0.0 100.0L59.4 68.0M594.1 36.0h0L594.1 36.0L600.0 4.0", "M0.0 100L0.0 100.0L59.4 68.0L59.4 100zM594.1 100L594.1 36.0L600.0 4.0L600.0 100z"}}}},
		{samples(0), gets, sparkline{"", "60 s", "0 B", [2]line{{"a", "", ""}, {"b", "", ""}}}},
		{samples(0, 2, 99, 1), gets, sparkline{"", "102 s", "100 B", [2]line{
			{"a", "M11.8 52.0h0L11.8 52.0M600.0 4.0h0L600.0 4.0", "M11.8 100L11.8 52.0L11.8 100zM600.0 100L600.0 4.0L600.0 100z"},
			{"b", "M11.8 99.5h0L11.8 99.5M600.0 99.0h0L600.0 99.0", "M11.8 100L11.8 99.5L11.8 100zM600.0 100L600.0 99.0L600.0 100z"}}}},
	} {
		if got := draw("", [2]string{"a", "b"}, c.points(c.history), c.history, size); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// Hits and misses that fell beside a Get are none, and not negative.
func TestRatesAreNotNegative(t *testing.T) {
	history := samples(0, 1)
	history[0].hits = 500
	if got := gets(history)[0].values; got != [2]float64{0, 1} {
		t.Errorf("%v", got)
	}
}

func TestSizesAndCounts(t *testing.T) {
	for n, want := range map[int64]string{-5: "0 B", 0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 15 << 10: "15.0 KiB", 150 << 20: "150 MiB", 1023 << 30: "1023 GiB", 1 << 62: "4.00 EiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{-5: "0", 0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for s, want := range map[slab.Stats]string{{}: "–", {Hits: 1}: "100.0 %", {Hits: 99999, Misses: 1}: "99.9 %", {Misses: 1}: "0.0 %", {Hits: -1, Misses: 2}: "0.0 %"} {
		if got := hitRate(s); got != want {
			t.Errorf("%d of %d is %s, want %s", s.Hits, s.Misses, got, want)
		}
	}
	for place, want := range map[string]string{"/a/b/c/d.go:12": "c/d.go:12", "d.go:12": "d.go:12"} {
		if got := short(place); got != want {
			t.Errorf("%s is %s, want %s", place, got, want)
		}
	}
}

// The bar is as long as the peak, and its parts never reach beyond it.
func TestPartsFillTheBar(t *testing.T) {
	for _, s := range []slab.Stats{{}, {ActiveBytes: 10, RoundingBytes: -3, HeldBytes: 5, ManagedBytes: 12, PeakManagedBytes: 12},
		{ActiveBytes: 10, RoundingBytes: 20, HeldBytes: 30, UnusableBytes: 40, ManagedBytes: 100, PeakManagedBytes: 200}} {
		at := 0.0
		for _, p := range partsOf(s) {
			if p.At != at || p.Wide < 0 {
				t.Errorf("%+v: %+v", s, p)
			}
			at += p.Wide
		}
		if at > 100 || s.ManagedBytes == 100 && at != 50 {
			t.Errorf("%+v fills %g %%", s, at)
		}
	}
}

// What should not be has a line each, and only what there is.
func TestWarnings(t *testing.T) {
	if list := warningsOf(slab.Stats{Hits: 1, Failed: 1}); list != nil {
		t.Errorf("%q", list)
	}
	short := warningsOf(slab.Stats{PressureSteps: 2, PressureBytes: 3 << 20})
	if len(short) != 1 || short[0] != "Memory was short: 2 steps gave back 3.00 MiB" {
		t.Errorf("%q", short)
	}
	got := strings.Join(warningsOf(slab.Stats{Forgotten: 1000, DoubleReleases: 2, ForeignPuts: 3, GuardFaults: 4}), "; ")
	if want := "Buffers that were never released, found by the collector: 1,000; Releases of what had been released before: 2; Puts of slices that the pool did not have out: 3; Guarded buffers that were used after their Release, or are still reached: 4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The page shows ten sites, and says how many more there are.
func TestTheMostSites(t *testing.T) {
	var leaks []slab.Leak
	for i := range 12 {
		leaks = append(leaks, slab.Leak{Bytes: i, Site: strings.Repeat("x", i)}, slab.Leak{Bytes: 100, Site: "lost", Forgotten: true})
	}
	sites := sitesOf(leaks)
	if len(sites) != 13 || sites[0].Bytes != 11 || sites[12] != (Site{"lost", true, false, 12, 1200}) {
		t.Errorf("%+v", sites)
	}
	if s := sitesOf([]slab.Leak{{Bytes: 100, Sampled: 7}, {Bytes: 50, Sampled: 3}}); len(s) != 1 || s[0] != (Site{"", false, true, 10, 150}) {
		t.Errorf("%+v", s)
	}
	p := check.Ok(slab.OpenConfig(slab.Config{}))(t)
	defer p.Close()
	v := viewOf(0, State{Sites: sites}, p, samples(0))
	if len(v.Sites) != 10 || v.More != 3 {
		t.Errorf("%d sites and %d more", len(v.Sites), v.More)
	}
}

// Only sizes of which there are free extents are shown.
func TestFreeExtents(t *testing.T) {
	got := freeOf(slab.Fragmentation{FreeExtents: []int64{0, 0, 4, 0, 1}})
	if len(got) != 2 || got[0] != (extents{"4 B", 4, 100}) || got[1] != (extents{"16 B", 1, 25}) {
		t.Errorf("%+v", got)
	}
}

// The time that those have waited whose wait is over is shared among these, and not with those
// who wait still.
func TestAWaitThatGoesOnIsNotAveraged(t *testing.T) {
	for s, want := range map[slab.Stats]string{
		{}: "none had to wait",
		{Waits: 3, Waiters: 1, WaitTime: 4 * time.Millisecond}: "3 in all, 2ms each",
		{Waits: 2, WaitTime: 5 * time.Second}:                  "2 in all, 2.5s each",
		{Waits: 1, Waiters: 1}:                                 "1 in all, 0s each",
	} {
		list := numbersOf(s)
		i := slices.IndexFunc(list, func(n number) bool { return n.Name == "Waiters" })
		if got := list[i].Note; got != want {
			t.Errorf("%d waits: %s, want %s", s.Waits, got, want)
		}
	}
}
