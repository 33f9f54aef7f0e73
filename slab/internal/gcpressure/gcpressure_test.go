package gcpressure

import (
	"math"
	"testing"
)

// Others release memory while a collection runs. It does not make the next one come
// earlier: that would be at once, for memory that is handed over in large batches.
func TestPressureCountsWhatWasInUse(t *testing.T) {
	tracked, found := int64(65), int64(3)
	g := Pressure{limit: 64, tracked: func() int64 { return tracked }}
	calls := 0
	g.found = func() int64 {
		if calls++; calls > 1 { // the collector runs
			tracked, found = 1, 8
		}
		return found
	}
	g.Relieve()
	g.Collected() // of the same collection
	if g.base.Load() != 60 {
		t.Errorf("%d bytes were in use, not 60", g.base.Load())
	}
	if tracked = 184; g.exceeded() {
		t.Error("184 exceed twice 60 and 64")
	}
	g.Collected() // of another one, whose finalizers have not run
	if g.base.Load() != 60 {
		t.Errorf("%d bytes were in use, not 60", g.base.Load())
	}
	tracked = 10
	if g.Collected(); g.base.Load() != 10 {
		t.Errorf("%d bytes were in use, not 10", g.base.Load())
	}
}

// The pool collects when what is tracked exceeds twice what was in use, and the limit. It never does without a limit.
func TestWhenTheLimitIsExceeded(t *testing.T) {
	for _, c := range []struct {
		limit, base, tracked int64
		want                 bool
	}{
		{64, 0, 64, false}, {64, 0, 65, true}, {64, 10, 84, false}, {64, 10, 85, true}, {1, 0, 1, false}, {1, 0, 2, true},
		{0, 0, 1 << 40, false}, {-1, 0, 1 << 40, false}, {math.MaxInt64, 10, math.MaxInt64, false},
	} {
		var g Pressure
		var found int64
		g.Open(c.limit, func() int64 { return c.tracked }, func() int64 { return found })
		g.base.Store(c.base)
		g.Relieve()
		if ran := g.Ran() == 1; ran != c.want || g.Ran() > 1 {
			t.Errorf("%+v: %d collections", c, g.Ran())
		}
	}
}

// Each search that finds nothing makes the next one wait for twice the Gets and more, up to a bound; one that finds
// something does not.
func TestSearchesAreFewer(t *testing.T) {
	var g Pressure
	finds := false
	g.Open(0, func() int64 { return 0 }, func() int64 {
		if finds {
			return g.Ran() // one more with each collection
		}
		return 0
	})
	gets := int64(100)
	search := func(ran int64, what string) {
		t.Helper()
		before := g.Ran()
		if came := g.Search(gets); g.Ran() != before+ran || came != (finds && ran > 0) {
			t.Errorf("%s: %d collections, something was found: %v", what, g.Ran()-before, came)
		}
	}
	search(1, "the first")
	for _, wait := range []int64{16, 48, 112} {
		gets += wait - 1
		search(0, "before its time")
		gets++
		search(1, "in time")
	}
	gets, finds = gets+240, true
	search(1, "one that finds something")
	search(1, "one after that")
	finds, g.wait = false, mostWait-1 // as after many
	for range 2 {
		gets += mostWait
		search(1, "after the longest wait")
	}
	gets += mostWait - 1
	search(0, "before the longest wait")
	g.limit = -1
	gets += mostWait
	search(0, "where none is wanted")
}

// What another collection has found since the last search counts as found: the search is not in vain, and the next
// one need not wait.
func TestASearchBehindAnotherCollection(t *testing.T) {
	var g Pressure
	found := int64(0)
	g.Open(0, func() int64 { return 0 }, func() int64 { return found })
	found++
	for i, want := range []bool{true, false, false} { // the third has to wait
		if came := g.Search(100); came != want || g.Ran() != int64(min(i+1, 2)) {
			t.Errorf("search %d: something was found: %v, %d collections", i, came, g.Ran())
		}
	}
}

// A look is a collection that calls back once.
func TestLook(t *testing.T) {
	var g Pressure
	g.Open(0, nil, func() int64 { return 0 })
	marked := 0
	if g.Look(func() { marked++ }); marked != 1 || g.Ran() != 1 {
		t.Errorf("called %d times, %d collections", marked, g.Ran())
	}
}
