package growpool

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

func TestHitsMissesAndGrowsAreCountedExactly(t *testing.T) {
	p := open(t, Config{})
	for _, n := range []int{100, 100, 50, 200, 1, 201, 201} {
		mustGet[float64](t, p, "coeff", n)
	}
	mustGet[byte](t, p, "other", 3)
	wantStats(t, p, "coeff", KeyStats{Hits: 4, Misses: 1, Grows: 2, Bytes: 201 * 8})
	wantStats(t, p, "other", KeyStats{Misses: 1, Bytes: 3})
	if got, want := p.Totals(), (KeyStats{Hits: 4, Misses: 2, Grows: 2, Bytes: 201*8 + 3}); got != want {
		t.Errorf("Totals %+v, want %+v", got, want)
	}
	if u := p.MemoryUsage(); u.TotalBytes != 201*8+3 || u.Keys["coeff"] != 201*8 || len(u.Keys) != 2 || u.HeldBytes != u.TotalBytes {
		t.Errorf("%+v", u)
	}
}

// A key that leaves while Totals adds up, as idle ones do by the clock, counts once.
func TestTotalsCountAKeyThatLeavesOnce(t *testing.T) {
	p := open(t, Config{MaxBytes: 1 << 20})
	var begun, ended atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for range 1000 {
			begun.Add(1)
			release(t, acquire[byte](t, p, "k", 100))
			ended.Add(1)
			p.Clear()
		}
	})
	for least := int64(0); least < 1000 && !t.Failed(); least = ended.Load() {
		s := p.Totals()
		if n, most := s.Hits+s.Misses+s.Grows, begun.Load(); n < least || n > most {
			t.Errorf("%d requests, of %d to %d", n, least, most)
		}
	}
	all.Wait()
}

func TestCopiesOfStatsAndUsageAreTheCallers(t *testing.T) {
	p := open(t, Config{})
	mustGet[byte](t, p, "k", 8)
	p.Stats()["k"] = KeyStats{}
	p.MemoryUsage().Keys["k"] = 0
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 8})
	if p.MemoryUsage().Keys["k"] != 8 {
		t.Error("a caller changed the pool's figures")
	}
}

func TestSmallerRequestIsAPrefixWithoutACopy(t *testing.T) {
	p := open(t, Config{})
	large := mustGet[int32](t, p, "k", 10, 10).Slice()
	for i := range large {
		large[i] = int32(i)
	}
	small := mustGet[int32](t, p, "k", 7, 3)
	if s := small.Slice(); &s[0] != &large[0] || len(s) != 21 || cap(s) != 21 || s[20] != 20 {
		t.Errorf("len %d, cap %d, %v", len(s), cap(s), s)
	}
}

// Capacity is a number of elements: (1000,1) and then (1,1000) needs no more.
func TestShapesOfAsManyElementsShareABuffer(t *testing.T) {
	p := open(t, Config{})
	mustGet[float64](t, p, "k", 1000, 1)
	v := mustGet[float64](t, p, "k", 1, 1000)
	if !slices.Equal(v.Shape(), []int{1, 1000}) || len(v.Slice()) != 1000 {
		t.Error(v.Shape())
	}
	mustGet[float64](t, p, "k", 10, 10, 10)
	wantStats(t, p, "k", KeyStats{Hits: 2, Misses: 1, Bytes: 8000})
}

func TestOtherElementTypesAndRanksOnOneKey(t *testing.T) {
	p := open(t, Config{})
	type cell struct {
		a int64
		b [3]int16
	}
	mustGet[float64](t, p, "k", 100)
	f := mustGet[float32](t, p, "k", 10, 20)
	if len(f.Slice()) != 200 {
		t.Error(len(f.Slice()))
	}
	c := mustGet[cell](t, p, "k", 2, 5, 5).Slice()
	if len(c) != 50 || cap(c) != 50 || uintptr(unsafe.Pointer(&c[0]))%unsafe.Alignof(c[0]) != 0 {
		t.Error(len(c), cap(c))
	}
	mustGet[complex128](t, p, "k", 50)
	mustGet[[3]byte](t, p, "k", 266)
	mustGet[[3]byte](t, p, "k", 267)
	wantStats(t, p, "k", KeyStats{Hits: 4, Misses: 1, Grows: 1, Bytes: 801})
}

func TestBadShapesAreRefusedBeforeAnythingHappens(t *testing.T) {
	p := open(t, Config{})
	for _, shape := range [][]int{
		nil, {-1}, {3, -2}, {0, -1}, {-1, 0}, {-2, -2}, {math.MaxInt}, {math.MaxInt, 2}, {math.MaxInt/8 + 1},
		{math.MaxInt / 2, math.MaxInt / 2, 5}, {math.MinInt}, {1, 1, 0, -1}, {2, math.MaxInt / 2},
	} {
		v, err := Get[float64](p, "k", shape...)
		wantError(t, err, ErrShape, device.ErrSize)
		_, err = Acquire[float64](t.Context(), p, "k", shape...)
		wantError(t, err, ErrShape, slab.ErrSize)
		if v.Slice() != nil || len(p.Stats()) != 0 {
			t.Errorf("shape %v left something: %v", shape, p.Stats())
		}
	}
	// A good buffer does not let a bad shape pass either.
	mustGet[float64](t, p, "k", 10)
	for _, shape := range [][]int{nil, {0, -1}, {-1}, {math.MinInt}, {-1, -1}, {math.MaxInt/2 + 1, 4}, {5, 0, -1}} {
		_, err := Get[float64](p, "k", shape...)
		wantError(t, err, ErrShape)
	}
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 80})
}

// A dimension of 0 makes a View of no elements, whatever the others are. It takes no memory, not even of
// a budget that has no room, and leaves what the key has.
func TestNothingIsServed(t *testing.T) {
	for _, c := range []Config{{}, {MaxBytes: 100}} {
		p := open(t, c)
		for _, shape := range [][]int{{0}, {0, 3}, {3, 0}, {math.MaxInt, 0, math.MaxInt}} {
			v := mustGet[int64](t, p, "k", shape...)
			l := acquire[int64](t, p, "k", shape...)
			for _, v := range []View[int64]{v, l.View} {
				if m := v.Slice(); m == nil || len(m) != 0 || v.Len() != 0 || !slices.Equal(v.Shape(), shape) || !v.Valid() || v.Block().Len != 0 {
					t.Errorf("shape %v: %v of shape %v", shape, m, v.Shape())
				}
				if text := recovered(func() { v.At(make([]int, len(shape))...) }); !strings.Contains(text, "index") {
					t.Errorf("At of nothing: %q", text)
				}
			}
			if err := errors.Join(v.UsedOn(newGated()), l.UsedOn(newGated())); err != nil {
				t.Error(err)
			}
			if release(t, l); l.Slice() != nil {
				t.Error("a released lease shows something")
			}
		}
		if row := mustGet[int64](t, p, "k", 3, 0).Row(2); row == nil || len(row) != 0 {
			t.Errorf("a row of nothing: %v", row)
		}
		if s, u := p.Totals(), p.MemoryUsage(); s.Hits != 9 || s.Misses != 0 || u.PeakBytes != 0 {
			t.Errorf("%+v, %+v", s, u)
		}
		v := mustGet[int64](t, p, "k", 10)
		mustGet[int64](t, p, "k", 0)
		if !v.Valid() || len(p.MemoryUsage().Keys) != 1 {
			t.Error("the key has lost its buffer")
		}
	}
}

func TestHitsDoNotAllocate(t *testing.T) {
	if sanitized {
		t.Skip("the address sanitizer allocates")
	}
	p := open(t, Config{})
	numbers := New[int](openSlab(t, ""), Config{})
	mustGet[float64](t, p, "k", 10_000)
	Get[float64](numbers, 1000, 10_000)
	n := 0
	var sum float64
	for name, f := range map[string]func(){
		"1":      func() { sum += mustGet[float64](t, p, "k", 1+n%1000).At(0) },
		"2":      func() { v, _ := Get[float64](p, "k", 1+n%10, 1+n%20); v.Set(1, 0, n%20); v.Row(0)[0] = 1 },
		"3":      func() { v, _ := Get[float64](p, "k", 10, 10, 10); v.Set(1, 9, 9, 9) },
		"5":      func() { v, _ := Get[float64](p, "k", 2, 2, 2, 2, 2); sum += v.At(1, 1, 1, 1, 1) },
		"number": func() { v, _ := Get[float64](numbers, 1000, 1+n%1000); v.Slice()[0] = 1 },
	} {
		if a := check.Allocs(100, func() { n++; f() }); a != 0 {
			t.Errorf("%s dimensions: %v allocations a hit", name, a)
		}
	}
}

// A hit takes no lock, whatever its element type and shape, up to the whole buffer. What takes the lock of the key sees
// that the pool is closed.
func TestAHitTakesNoLock(t *testing.T) {
	p := open(t, Config{})
	mustGet[byte](t, p, "bytes", 24)
	mustGet[float64](t, p, "numbers", 24)
	p.closed.Store(true)
	for _, shape := range [][]int{{1}, {24}, {1, 1}, {4, 6}, {5, 4}, {2, 3, 4}} {
		check.Ok(Get[byte](p, "bytes", shape...))(t)
		check.Ok(Get[float64](p, "numbers", shape...))(t)
	}
	check.Wraps(t, check.Err(Get[byte](p, "bytes", 25)), ErrClosed)
	check.Wraps(t, check.Err(Get[byte](p, "bytes", 5, 5)), ErrClosed)
	check.Wraps(t, check.Err(Get[int64](p, "numbers", 1)), ErrClosed)
	p.closed.Store(false)
}

func TestClosedPoolRefuses(t *testing.T) {
	p := open(t, Config{})
	v := mustGet[byte](t, p, "k", 10)
	if err := p.Close(); err != nil || p.Close() != nil || v.Valid() {
		t.Error(err)
	}
	_, err := Get[byte](p, "k", 10)
	wantError(t, err, ErrClosed)
	_, err = Acquire[byte](t.Context(), p, "k", 10)
	wantError(t, err, ErrClosed)
	v.Slice()[9] = 1 // on the heap that is still this view's alone
}

func TestNewPanicsOnABadConfig(t *testing.T) {
	below := openSlab(t, "")
	for name, f := range map[string]func(){
		"MaxBytes -1":  func() { New[int](below, Config{MaxBytes: -1}) },
		"IdleAfter -1": func() { New[int](below, Config{IdleAfter: -1}) },
		"GCTrigger -2": func() { New[int](below, Config{GCTrigger: -2}) },
		"New with":     func() { New[int](nil, Config{}) },
		"Factor of":    func() { Factor(1) },
		"Grid of":      func() { Steps(3) },
	} {
		if text := recovered(f); !strings.Contains(text, name) {
			t.Errorf("no word of %q in %q", name, text)
		}
	}
	if err := (Config{MaxBytes: -1, IdleAfter: -2}).Validate(); err == nil || strings.Count(err.Error(), "want") != 2 {
		t.Errorf("not every fault is named: %v", err)
	}
}

func TestClearKeepsStatisticsAndClearStatsKeepsBuffers(t *testing.T) {
	p := open(t, Config{})
	v := mustGet[byte](t, p, "k", 100)
	mustGet[byte](t, p, "k", 50)
	p.Clear()
	wantStats(t, p, "k", KeyStats{Hits: 1, Misses: 1})
	if v.Valid() || p.MemoryUsage().TotalBytes != 0 || len(p.MemoryUsage().Keys) != 0 {
		t.Error(p.MemoryUsage())
	}
	mustGet[byte](t, p, "k", 5)
	mustGet[byte](t, p, "k", 10)
	wantStats(t, p, "k", KeyStats{Hits: 1, Misses: 2, Grows: 1, Bytes: 10})
	p.ClearStats()
	wantStats(t, p, "k", KeyStats{Bytes: 10})
	mustGet[byte](t, p, "k", 10)
	wantStats(t, p, "k", KeyStats{Hits: 1, Bytes: 10})
	if p.Totals() != (KeyStats{Hits: 1, Bytes: 10}) {
		t.Error(p.Totals())
	}
}
