package growpool

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// stressKeys returns how many keys a long test takes.
func stressKeys(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("BUFSLAB_STRESS"))
	if err != nil {
		return 20_000
	}
	return n
}

// BUFSLAB_STRESS=1000000 is a million distinct keys within 64 MiB.
func TestDistinctKeysStayWithinTheBudget(t *testing.T) {
	const budget = 64 << 20
	below := openSlab(t, "device=heap")
	for name, lease := range map[string]bool{"Get": false, "Acquire": true} {
		t.Run(name, func(t *testing.T) {
			p := New[int](below, Config{MaxBytes: budget})
			defer p.Close()
			most := int64(0)
			for key := range stressKeys(t) {
				n := 1 + key*7919%8192
				if lease {
					l, err := Acquire[byte](t.Context(), p, key, n)
					if err != nil {
						t.Fatal(err)
					}
					release(t, l)
				} else if _, err := Get[byte](p, key, n); err != nil {
					t.Fatal(err)
				}
				if key%10_000 == 9_999 {
					u := p.MemoryUsage()
					most = max(most, u.HeldBytes+u.MetadataBytes)
				}
			}
			u := p.MemoryUsage()
			if most > budget || u.PeakBytes > budget || u.TotalBytes < budget/2 {
				t.Errorf("%d bytes at most, metadata included; peak %d, now %d and %d of metadata", most, u.PeakBytes, u.TotalBytes, u.MetadataBytes)
			}
			t.Logf("%d keys, held %d, metadata %d, at most %d; the slab.Pool had %d at most", len(u.Keys), u.HeldBytes, u.MetadataBytes, most, below.Stats().PeakManagedBytes)
		})
	}
}

// A key that is not equal to itself leaves no entry behind when its buffer goes, nor when a
// request for it fails.
func TestKeysUnlikeThemselvesLeave(t *testing.T) {
	const budget, keys = 16 << 20, 10_000
	p := New[float64](openSlab(t, "device=virtual,strategy=direct"), Config{MaxBytes: budget})
	defer p.Close()
	for range keys {
		l, err := Acquire[byte](t.Context(), p, math.NaN(), 64<<10)
		if err != nil {
			t.Fatal(err)
		}
		release(t, l)
		if _, err := Get[byte](p, math.NaN(), 2*budget); err == nil {
			t.Fatal("a buffer beyond the budget")
		}
	}
	s, u := p.Totals(), p.MemoryUsage()
	if s.Misses != keys || int64(len(u.Keys)) > budget/(64<<10) || u.HeldBytes+u.MetadataBytes > budget {
		t.Errorf("%+v; %d keys, %d bytes held and %d of metadata in a budget of %d", s, len(u.Keys), u.HeldBytes, u.MetadataBytes, budget)
	}
}

// heapBytes waits until what earlier tests left has gone: some of that goes only after the
// finalizers of what went before.
func heapBytes() (bytes int64) {
	const calm = 5 // collections in a row that free next to nothing
	for n := 0; n < calm; {
		collect()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if now := int64(m.HeapAlloc); bytes > 0 && now > bytes-bytes/1000 {
			n++
		} else {
			bytes, n = now, 0
		}
	}
	return bytes
}

// What MemoryUsage reports of the bookkeeping is what it takes, within a third or, where pointers are small, a half.
func TestMetadataIsAsLargeAsReported(t *testing.T) {
	const keys = 20_000
	below := openSlab(t, "device=mmap,gc_trigger=0") // its memory is none of the heap's
	start := heapBytes()
	p := New[int](below, Config{MaxBytes: 256 << 20})
	fixed := heapBytes() - start
	for key := range keys {
		l, err := Acquire[byte](t.Context(), p, key, 16)
		if err != nil {
			t.Fatal(err)
		}
		release(t, l)
	}
	each := (heapBytes() - start - fixed) / keys
	t.Logf("fixed %d bytes, reported %d; a key %d, reported %d", fixed, cacheBytes(256<<20), each, keyBytes[int]())
	if r := float64(cacheBytes(256<<20)) / float64(fixed); r < 0.75 || r > 1.5 {
		t.Errorf("the cache takes %d bytes, reported are %d", fixed, cacheBytes(256<<20))
	}
	if r := float64(keyBytes[int]()) / float64(each); r < 0.75 || r > 1.5 {
		t.Errorf("a key takes %d bytes, reported are %d", each, keyBytes[int]())
	}
	if u := p.MemoryUsage(); u.MetadataBytes != cacheBytes(256<<20)+keys*keyBytes[int]() {
		t.Errorf("%d", u.MetadataBytes)
	}
	p.Close()
}

// forced returns how many collections f has made, other than the runtime's own.
func forced(f func()) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.NumForcedGC - before.NumForcedGC
}

// A collection that finds most of what was left in use is not repeated soon, and what
// others' collections have found needs none: for 64 MiB by Get through 1 MiB a pool whose
// Views have 8 MiB makes few, not 60; one beside a program that collects makes none.
func TestCollectionsAreAsFewAsPay(t *testing.T) {
	const size, gets = 64 << 10, 1000
	request := func(p *Pool[int], key int) View[byte] {
		v, err := Get[byte](p, key, size)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	p := New[int](openSlab(t, "device=mmap"), Config{MaxBytes: 1 << 20})
	defer p.Close()
	n := forced(func() {
		var views [128]View[byte]
		for i := range gets {
			views[i%len(views)] = request(p, i)
		}
		if b := p.MemoryUsage().LeftBytes; b < 7<<20 || b > 24<<20 {
			t.Errorf("%d bytes are left, of which Views have %d", b, len(views)*size)
		}
		runtime.KeepAlive(&views)
	})
	if n == 0 || n > 20 {
		t.Errorf("%d collections while Views have much", n)
	}
	other := 0
	n = forced(func() {
		for i := range gets {
			request(p, i)
			if p.MemoryUsage().LeftBytes > 1<<19 {
				collect()
				other++
			}
		}
	})
	if int(n) != other {
		t.Errorf("%d collections, of which others made %d", n, other)
	}
}

// A trigger that nothing reaches collects for no Get that has room, also once a Get without room has
// collected and Views have memory.
func TestAHugeTriggerIsNeverReached(t *testing.T) {
	for name, c := range map[string]Config{"trigger": {GCTrigger: math.MaxInt64}, "budget": {MaxBytes: math.MaxInt64}} {
		p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB"), c)
		var views []View[byte]
		for size := 1 << 14; size <= 1<<18; size *= 2 {
			views = append(views, mustGet[byte](t, p, "grows", size))
		}
		check.Wraps(t, check.Err(Get[byte](p, "grows", 1<<20)), device.ErrOutOfMemory)
		n := forced(func() {
			for key := range 20 {
				views = append(views, mustGet[byte](t, p, strconv.Itoa(key), 100))
			}
		})
		if n != 0 {
			t.Errorf("%s: %d collections", name, n)
		}
		runtime.KeepAlive(views)
		p.Close()
	}
}

// With the collector off, only the trigger brings back what Get has shown.
func TestTriggerBoundsWhatIsLeftToTheCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, c := range map[string]struct {
		Config
		most int64
	}{
		"budget":  {Config{MaxBytes: 1 << 20}, 4 << 20},
		"trigger": {Config{GCTrigger: 1 << 20}, 4 << 20},
		"never":   {Config{MaxBytes: 1 << 20, GCTrigger: -1}, 1 << 40}, // the control
	} {
		below := openSlab(t, "device=heap,strategy=direct")
		p := New[int](below, c.Config)
		for i := range 200 {
			if _, err := Get[byte](p, 0, 50_000+i); err != nil {
				t.Fatal(err)
			}
		}
		peak := below.Stats().PeakManagedBytes
		if peak > c.most || name == "never" && peak < 200*50_000 {
			t.Errorf("%s: the slab.Pool had %d bytes at most", name, peak)
		}
		p.Close()
	}
}

// A budget that is large compared with the cache pays for the bookkeeping of each buffer; a small one pays for that of
// buffers beyond sixteen.
func TestWhatABudgetHasRoomFor(t *testing.T) {
	sixteen := []int{100, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 200} // of 1000 bytes
	for _, c := range []struct {
		fixed, perKey int64
		has           []int // of a budget of 1000 bytes
		most          int   // for one more
	}{
		{0, 0, nil, 1000}, {10, 5, nil, 985}, {10, 5, []int{485}, 495}, {10, 5, []int{1, 1, 1}, 990 - 3 - 4*5},
		{100, 5, nil, 1000}, {100, 5, []int{600}, 400}, {100, 5, sixteen, 0}, {100, 5, sixteen[:15], 200},
		{100, 5, append([]int{50, 50}, sixteen[1:15]...), 195}, // the seventeenth
	} {
		var b budget
		b.limit(1000, c.fixed, c.perKey)
		held := 0
		for _, n := range c.has {
			if held += n; !b.reserve(n) {
				t.Fatalf("%+v: no room for %d", c, n)
			}
			b.had(n)
		}
		for _, had := range []bool{false, true, true} { // what is freed, or had no memory, has room again
			if b.reserve(c.most+1) || c.most > 0 && !b.reserve(c.most) {
				t.Errorf("%+v: more than that has room, or that has none", c)
			}
			want := int64(held)
			if c.most > 0 && had {
				b.had(c.most)
				want += int64(c.most)
			}
			if now, peak := b.usage(); now != want || peak != now {
				t.Errorf("%+v: %d bytes held, %d at most", c, now, peak)
			}
			switch {
			case c.most > 0 && had:
				b.free(c.most)
			case c.most > 0:
				b.undo(c.most)
			}
		}
	}
}
