package growpool

import (
	"slices"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// The traps of a cache that works on its own time, one after the other. Where
// the real one would have to be caught at a bad moment, a stand-in does what
// it may do.

// Whatever the cache does, memory goes back exactly once.
func TestNothingLeaksWhateverTheCacheDoes(t *testing.T) {
	for name, f := range map[string]*fickle{
		"drop":   {drop: 0.5},
		"reject": {reject: 0.5},
		"evict":  {evict: 0.3},
		"all":    {drop: 0.2, reject: 0.2, evict: 0.1},
		"none":   {},
	} {
		t.Run(name, func(t *testing.T) {
			below := openSlab(t, "device=heap,strategy=direct")
			p := New[int](below, Config{MaxBytes: 200_000}) // four leases take 128,000 at most
			p.policy.use(f)
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() { stress(t, p, g) })
			}
			wg.Wait()
			if u := p.MemoryUsage(); u.PeakBytes > 200_000 || u.HeldBytes != u.TotalBytes {
				t.Errorf("%+v", u)
			}
			if a := below.Stats().ActiveBytes; a != p.MemoryUsage().HeldBytes {
				t.Errorf("%d bytes are out, %d are held", a, p.MemoryUsage().HeldBytes)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if s := below.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func bounded(t *testing.T, maxBytes int64) *Pool[string] {
	return open(t, Config{MaxBytes: maxBytes})
}

// A Set that is dropped leaves the value with us: the key does not keep it.
func TestDroppedSetIsNotKept(t *testing.T) {
	p := bounded(t, 10_000)
	p.policy.use(&fickle{drop: 1})
	v := mustGet[byte](t, p, "k", 100)
	v.Slice()[99] = 1
	if u := p.MemoryUsage(); u.HeldBytes != 0 || u.TotalBytes != 0 {
		t.Errorf("%+v", u)
	}
	if s := p.Totals(); s.Misses != 1 || len(p.Stats()) != 0 {
		t.Errorf("%+v", s)
	}
	l := acquire[byte](t, p, "k", 100) // what a lease has is held until it is over
	if u := p.MemoryUsage(); u.HeldBytes != 100 || u.TotalBytes != 0 {
		t.Errorf("%+v", u)
	}
	release(t, l)
	if u := p.MemoryUsage(); u.HeldBytes != 0 {
		t.Errorf("%+v", u)
	}
}

// A value that the cache's Get returns may have left it: it is not used.
func TestAValueThatHasLeftIsNotUsed(t *testing.T) {
	p := bounded(t, 10_000)
	f := &fickle{evict: 1}
	p.policy.use(f)
	a := acquire[byte](t, p, "a", 100)
	release(t, a) // evicted at once: its memory is the slab.Pool's
	if f.last == nil {
		t.Fatal("nothing has left")
	}
	b := acquire[byte](t, p, "a", 100)
	if b.View.of == f.last && f.last.now().refs() == 0 {
		t.Error("the lease has a buffer that has left")
	}
	release(t, b)
}

func TestDelOfNothingGivesNothing(t *testing.T) {
	k := newPolicy(1000, 1000)
	defer k.close()
	if gone := k.remove(7); len(gone) != 0 {
		t.Errorf("%v", gone)
	}
}

// A closed cache gives back what it had, once, and takes nothing.
func TestAClosedCacheTakesNothing(t *testing.T) {
	k := newPolicy(1000, 1000)
	k.admit(7, newBuffer(0, nil, nil), 1)
	if gone := k.close(); len(gone) != 1 || !k.closed {
		t.Errorf("%d gone, closed: %t", len(gone), k.closed)
	}
	k.touch(7)
	gone, ok := k.admit(8, newBuffer(0, nil, nil), 1)
	if gone = slices.Concat(gone, k.remove(7), k.clear(), k.close()); ok || len(gone) != 0 {
		t.Errorf("admitted: %t, %d gone", ok, len(gone))
	}
}

// The cache has about a counter a KiB, between a thousand and a million, and takes four bytes for each, and some hundred
// KiB besides.
func TestTheCacheIsAsLargeAsItsBudgetNeeds(t *testing.T) {
	for maxBytes, want := range map[int64]int64{1: 1e3, 1 << 10: 1e3, 8 << 20: 8e3, 64 << 20: 64e3, 1 << 30: 1e6, 1 << 50: 1e6} {
		if n := countersFor(maxBytes); n < want || n > want*5/4 {
			t.Errorf("%d counters for %d bytes", n, maxBytes)
		}
	}
	if n := cacheBytes(1); n < 256<<10 || n > 512<<10 {
		t.Errorf("the smallest cache has %d bytes", n)
	}
	if n := cacheBytes(1<<30) - cacheBytes(1); n < 3e6 || n > 5e6 {
		t.Errorf("a million counters have %d bytes", n)
	}
}

// A second value for a key whose first is pending would be rejected, and one for
// a key that has one would be an update, which evicts none.
func TestTheNewerValueOfAKeyCounts(t *testing.T) {
	k := newPolicy(1000, 1000)
	defer k.close()
	var last *buffer
	for i := range 1000 {
		b := newBuffer(i, nil, nil)
		gone, ok := k.admit(7, b, 1000) // all there is: nothing is added to it
		if !ok || (last != nil && !slices.Equal(gone, []*buffer{last})) {
			t.Fatalf("value %d: admitted %v, %d gone", i, ok, len(gone))
		}
		last = b
	}
	for id := range uint64(8) {
		gone, ok := k.admit(id, newBuffer(0, nil, nil), 1001)
		if ok || id == 7 != slices.Equal(gone, []*buffer{last}) {
			t.Errorf("key %d: more than there is was admitted: %t, %d gone", id, ok, len(gone))
		}
	}
}

// Two keys with one id share its place in the cache, and nothing else.
func TestKeysWithOneHashDoNotMix(t *testing.T) {
	below := openSlab(t, "device=heap")
	p := New[int64](below, Config{MaxBytes: 1 << 20})
	defer p.Close()
	p.table.secret = [2]uint64{} // every hash is 0
	for range 3 {
		for key := range int64(5) {
			v, err := Get[int64](p, key, 100)
			if err != nil {
				t.Fatal(err)
			}
			m := v.Slice()
			for i := range m {
				m[i] = key
			}
			w, err := Get[int64](p, key, 50)
			if err != nil || w.At(49) != key {
				t.Fatalf("key %d has another's buffer: %v", key, err)
			}
		}
	}
	if u := p.MemoryUsage(); len(u.Keys) != 1 || u.HeldBytes != 800 {
		t.Errorf("%+v", u)
	}
}

// Nothing is added to what a value costs: what fits is kept.
func TestWhatFitsIsKept(t *testing.T) {
	p := bounded(t, 100_000)
	for range 3 {
		for i := range 10 {
			mustGet[byte](t, p, string(rune('a'+i)), 10_000)
		}
	}
	if s := p.Totals(); s.Misses != 10 || s.Hits != 20 || s.Bytes != 100_000 {
		t.Errorf("%+v", s)
	}
}

// A value costs what the budget counts for it: its bytes and the bookkeeping of its key.
func TestTheCacheCountsWhatTheBudgetCounts(t *testing.T) {
	p := bounded(t, 10_000)
	f := &fickle{}
	p.policy.use(f)
	mustGet[byte](t, p, "a", 100)
	release(t, acquire[byte](t, p, "b", 2000))
	if want := 2100 + 2*p.budget.perKey; f.paid != want || p.budget.perKey == 0 {
		t.Errorf("the cache counts %d bytes, want %d", f.paid, want)
	}
}

// Uses decide who stays, and only the cache's Get tells it of them. How much the
// real one learns depends on how busy the machine is: it drops notes.
func TestEveryUseIsToldToTheCache(t *testing.T) {
	p := bounded(t, 10_000)
	f := &fickle{}
	p.policy.use(f)
	id := p.table.id("k")
	for i, request := range []func(){
		func() { mustGet[byte](t, p, "k", 10) },                  // a miss
		func() { mustGet[byte](t, p, "k", 5) },                   // a hit
		func() { mustGet[byte](t, p, "k", 2, 2) },                // of another shape
		func() { mustGet[int16](t, p, "k", 5) },                  // of another type
		func() { release(t, acquire[byte](t, p, "k", 10)) },      // by a lease
		func() { mustGet[byte](t, p, "k", 20) },                  // a grow
		func() { release(t, acquire[byte](t, p, "k", 30)) },      // again
		func() { release(t, acquire[byte](t, p, "k", 1, 1, 1)) }, // a hit of that
	} {
		before := f.gets[id]
		if request(); f.gets[id] <= before {
			t.Errorf("request %d: the cache was not told", i)
		}
	}
}

// Growing what is kept evicts, too: an update of its cost would not.
func TestGrowsStayWithinTheBudget(t *testing.T) {
	const budget = 1 << 20
	p := bounded(t, budget)
	for size := 1000; size < 300_000; size += size / 3 {
		for i := range 20 {
			mustGet[byte](t, p, string(rune('a'+i)), size)
			if u := p.MemoryUsage(); u.HeldBytes > budget || u.PeakBytes > budget || u.TotalBytes != u.HeldBytes {
				t.Fatalf("at %d bytes: %+v", size, u)
			}
		}
	}
}

func TestRequestAboveTheBudget(t *testing.T) {
	p := bounded(t, 1000)
	mustGet[byte](t, p, "k", 1000)
	_, err := Get[byte](p, "k", 1001)
	wantError(t, err, errOutOfMemory)
	_, err = Acquire[byte](t.Context(), p, "l", 1001)
	wantError(t, err, errOutOfMemory)
	if got := err.Error(); got != "growpool: pool on device=heap: budget of 1000 bytes, 1000 held, 1001 asked: out of memory" {
		t.Error(got)
	}
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 1000})
	mustGet[byte](t, p, "k", 1000)
	wantStats(t, p, "k", KeyStats{Misses: 1, Hits: 1, Bytes: 1000})
	check.Wraps(t, check.Err(Get[byte](bounded(t, 1), "k", 2)), errOutOfMemory)
}

// Memory in use goes before memory that is kept for later, and is never
// given away.
func TestLeasesTakeTheRoomOfIdleKeys(t *testing.T) {
	p := bounded(t, 1000)
	for range 20 {
		mustGet[byte](t, p, "kept", 600)
	}
	a := acquire[byte](t, p, "a", 500)
	b := acquire[byte](t, p, "b", 500)
	_, err := Acquire[byte](t.Context(), p, "c", 1)
	wantError(t, err, errOutOfMemory)
	if v := mustGet[byte](t, p, "kept", 600); len(v.Slice()) != 600 {
		t.Error("Get gets a view, though no key can keep it")
	}
	if u := p.MemoryUsage(); u.HeldBytes != 1000 || u.PeakBytes > 1000 {
		t.Errorf("%+v", u)
	}
	release(t, a)
	release(t, b)
}

func TestCloseAgainstEverything(t *testing.T) {
	for range 20 {
		below := openSlab(t, "device=heap,strategy=direct")
		p := New[int](below, Config{MaxBytes: 1 << 20})
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 100 {
					l, err := Acquire[byte](t.Context(), p, i%5+g, 1+100*i)
					if err != nil {
						wantError(t, err, ErrClosed)
						return
					}
					Get[byte](p, 1000+i%3, 10)
					release(t, l)
				}
			})
		}
		wg.Go(func() { p.Close() })
		wg.Wait()
		p.Close()
		if u := p.MemoryUsage(); u.HeldBytes != 0 || len(u.Keys) != 0 || len(p.Stats()) != 0 {
			t.Fatalf("%+v", u)
		}
		for range 2 {
			collect() // what Get has shown
		}
		if s := below.Stats(); s.ActiveBlocks != 0 {
			t.Fatalf("%+v", s)
		}
	}
}
