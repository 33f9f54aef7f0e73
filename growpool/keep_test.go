package growpool

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// The traps of a cache that works on its own time, one after the other. Where
// the real one would have to be caught at a bad moment, a stand-in does what
// it may do.

// A fickle cache is a map with the manners of the real one, at their worst.
type fickle struct {
	mu     sync.Mutex
	r      *rand.Rand
	has    map[uint64]*buffer
	exit   func(*buffer)
	drop   float64 // chance that Set is dropped
	reject float64 // that it is accepted and then not
	evict  float64 // that somebody else goes at a change
	last   *buffer // to have left; Get returns it for anything
}

func (f *fickle) lose(id uint64) {
	if b, ok := f.has[id]; ok {
		delete(f.has, id)
		f.last = b
		f.exit(b)
	}
}

func (f *fickle) Get(id uint64) (*buffer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.has[id]; ok {
		return b, true
	}
	return f.last, f.last != nil
}

func (f *fickle) Set(id uint64, b *buffer, cost int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.r.Float64() < f.drop:
		return false
	case f.r.Float64() < f.reject:
		f.exit(b)
		return true
	}
	f.lose(id)
	f.has[id] = b
	for other := range f.has {
		if f.r.Float64() < f.evict {
			f.lose(other)
		}
	}
	return true
}

func (f *fickle) Del(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose(id)
	f.exit(nil) // the zero value, as after every Del
}

func (f *fickle) Wait()  {}
func (f *fickle) Close() { f.Clear() }

func (f *fickle) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.has {
		f.lose(id)
	}
}

func (k *keeper) use(f *fickle) {
	f.r, f.has, f.exit = rand.New(rand.NewPCG(1, 2)), map[uint64]*buffer{}, k.exit
	k.cache.Close()
	k.cache = f
}

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
			p := New[int](below, Config{MaxBytes: 100_000})
			p.keep.use(f)
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() { stress(t, p, g) })
			}
			wg.Wait()
			if u := p.MemoryUsage(); u.PeakBytes > 100_000 || u.HeldBytes != u.TotalBytes {
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
	p.keep.use(&fickle{drop: 1})
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
	p.keep.use(f)
	a := acquire[byte](t, p, "a", 100)
	release(t, a) // evicted at once: its memory is the slab.Pool's
	if f.last == nil {
		t.Fatal("nothing has left")
	}
	b := acquire[byte](t, p, "a", 100)
	if b.View.of == f.last && f.last.refs.Load() == 0 {
		t.Error("the lease has a buffer that has left")
	}
	release(t, b)
}

func TestDelOfNothingGivesNothing(t *testing.T) {
	k := newKeeper(1000, 1000)
	defer k.close()
	if gone := k.remove(7); len(gone) != 0 {
		t.Errorf("%v", gone)
	}
}

// A second value for a key whose first is pending would be rejected, and one for
// a key that has one would be an update, which evicts nobody.
func TestTheNewerValueOfAKeyCounts(t *testing.T) {
	k := newKeeper(1000, 1000)
	defer k.close()
	var last *buffer
	for i := range 1000 {
		b := newBuffer(i, nil, nil, nil)
		gone, ok := k.admit(7, b, 900)
		if !ok || (last != nil && !slices.Equal(gone, []*buffer{last})) {
			t.Fatalf("value %d: admitted %v, %d gone", i, ok, len(gone))
		}
		last = b
	}
	if _, ok := k.admit(7, newBuffer(0, nil, nil, nil), 1001); ok {
		t.Error("more than there is was admitted")
	}
}

// Two keys with one id share its place in the cache, and nothing else.
func TestKeysWithOneHashDoNotMix(t *testing.T) {
	below := openSlab(t, "device=heap")
	p := New[int](below, Config{MaxBytes: 1 << 20})
	defer p.Close()
	p.table.secret = [2]uint64{} // every hash is 0
	for range 3 {
		for key := range 5 {
			v, err := Get[int](p, key, 100)
			if err != nil {
				t.Fatal(err)
			}
			m := v.Slice()
			for i := range m {
				m[i] = key
			}
			w, err := Get[int](p, key, 50)
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

// Uses decide who stays: only the cache's Get tells it of them.
func TestKeysInUseSurviveAFloodOfOthers(t *testing.T) {
	below := openSlab(t, "device=heap")
	p := New[int](below, Config{MaxBytes: 1 << 20})
	defer p.Close()
	get := func(key int) {
		if l, err := Acquire[byte](t.Context(), p, key, 100_000); err != nil {
			t.Error(err)
		} else {
			release(t, l)
		}
	}
	for range 1000 {
		for key := range 5 {
			get(key)
		}
		runtime.Gosched() // the cache drops notes of uses that it has no time for
	}
	before := p.Totals()
	for i := range 500 {
		get(1000 + i)
		get(i % 5)
	}
	if hits := p.Totals().Hits - before.Hits; hits < 350 {
		t.Errorf("%d of 500 requests for keys in use were hits", hits)
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
	if got := err.Error(); got != "growpool: budget of 1000 bytes, 1000 held, 1001 asked: out of memory" {
		t.Error(got)
	}
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 1000})
	mustGet[byte](t, p, "k", 1000)
	wantStats(t, p, "k", KeyStats{Misses: 1, Hits: 1, Bytes: 1000})
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
		t.Error("Get gets a view, though nobody can keep it")
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
			cycle() // what Get has shown
		}
		if s := below.Stats(); s.ActiveBlocks != 0 {
			t.Fatalf("%+v", s)
		}
	}
}
