package growpool

import (
	"errors"
	"reflect"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

func TestNoRoomChangesNothing(t *testing.T) {
	for name, c := range map[string]Config{"no budget": {}, "policy": {Growth: Pow2}, "budget": {MaxBytes: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			p := New[string](openSlab(t, "device=heap,max_bytes=131072,strategy=direct"), c)
			v := mustGet[byte](t, p, "k", 65_536)
			v.Slice()[65_535] = 7
			before := p.Stats()
			_, err := Get[byte](p, "k", 90_000)
			wantError(t, err, errOutOfMemory)
			_, err = Get[byte](p, "new", 90_000)
			wantError(t, err, errOutOfMemory)
			if !v.Valid() || v.Slice()[65_535] != 7 || !reflect.DeepEqual(p.Stats(), before) || p.MemoryUsage().HeldBytes != 65_536 {
				t.Errorf("before %v, now %v, %+v", before, p.Stats(), p.MemoryUsage())
			}
			// A buffer that only leases have shown goes first, and comes back.
			release(t, acquire[byte](t, p, "l", 32_768))
			_, err = Acquire[byte](newImpatient(t), p, "l", 90_000)
			wantError(t, err, errOutOfMemory)
			wantStats(t, p, "l", KeyStats{Misses: 1, Bytes: 32_768})
			release(t, acquire[byte](t, p, "l", 20_000))
			wantStats(t, p, "l", KeyStats{Misses: 1, Hits: 1, Bytes: 32_768})
			release(t, acquire[byte](t, p, "least", 1))
			_, err = Acquire[byte](newImpatient(t), p, "least", 90_000)
			wantError(t, err, errOutOfMemory)
			wantStats(t, p, "least", KeyStats{Misses: 1, Bytes: 1})
		})
	}
}

// Memory that Get has shown comes back by a collection only: there is one before
// anybody is told that there is no room. Nothing else collects here.
func TestNoRoomIsSaidAfterACollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := New[string](openSlab(t, "device=heap,max_bytes=1000000,strategy=direct,gc_trigger=0"), Config{})
	for n := 100_000; n < 450_000; n += 25_000 {
		mustGet[byte](t, p, "k", n)
	}
	v := mustGet[byte](t, p, "k", 450_000)
	_, err := Get[byte](p, "k", 600_000) // what is to be replaced stays until then
	wantError(t, err, errOutOfMemory)
	v.Slice()[449_999] = 1
}

// A miss that fails leaves in the cache what was there before. If the cache does
// not take the old buffer again, its key loses it.
func TestFailedMissIsUndoneInTheCache(t *testing.T) {
	p := New[string](openSlab(t, "device=heap,max_bytes=1000,strategy=direct"), Config{MaxBytes: 10_000, Growth: Pow2})
	f := &fickle{}
	p.policy.use(f)
	_, err := Get[byte](p, "k", 5000)
	wantError(t, err, errOutOfMemory)
	if len(f.has) != 0 {
		t.Errorf("%d buffers in the cache", len(f.has))
	}
	v := mustGet[byte](t, p, "k", 500)
	_, err = Get[byte](p, "k", 5000)
	wantError(t, err, errOutOfMemory)
	if len(f.has) != 1 || f.has[p.table.id("k")] != v.of || !v.Valid() || p.MemoryUsage().HeldBytes != 512 {
		t.Errorf("%d buffers in the cache, %+v", len(f.has), p.MemoryUsage())
	}
	f.drop = 1
	_, err = Acquire[byte](t.Context(), p, "k", 5000)
	wantError(t, err, errOutOfMemory)
	if v.Valid() || p.MemoryUsage().HeldBytes != 0 || len(p.Stats()) != 0 {
		t.Errorf("%+v", p.MemoryUsage())
	}
}

// A disturbed device does something else before it allocates.
type disturbed struct {
	device.Device
	first func()
}

func (d disturbed) Alloc(size int) (device.Block, error) {
	d.first()
	return d.Device.Alloc(size)
}

// The cache may let go of a buffer before its key has it: the key does not keep it.
func TestEvictedWhileItIsMade(t *testing.T) {
	heap, err := device.Open("heap")
	if err != nil {
		t.Fatal(err)
	}
	var p *Pool[string]
	below, err := slab.Open(disturbed{heap, func() { p.evictAll(p.policy.clear()) }}, slab.Config{Strategy: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	p = New[string](below, Config{MaxBytes: 10_000})
	defer p.Close()
	var views [2]View[byte]
	for i := range views {
		v := mustGet[byte](t, p, "k", 100)
		if views[i] = v; v.Valid() || len(v.Slice()) != 100 {
			t.Error("the View is of a buffer that the key keeps")
		}
		release(t, acquire[byte](t, p, "k", 200))
		if u := p.MemoryUsage(); u.HeldBytes != 0 || len(u.Keys) != 0 || len(p.Stats()) != 0 {
			t.Errorf("%+v", u)
		}
	}
	if s := below.Stats(); s.ActiveBlocks != 2 { // what Get has shown
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(&views)
}

// A key whose buffer an eviction is just taking has none to grow: the request is a miss.
func TestAGrowBesideAnEvictionIsAMiss(t *testing.T) {
	p := open(t, Config{})
	release(t, acquire[byte](t, p, "k", 10))
	b := p.table.find("k").cur.Load()
	do := b.change(evict) // and is yet to take it out of the entry
	release(t, acquire[byte](t, p, "k", 20))
	b.perform(do)
	wantStats(t, p, "k", KeyStats{Misses: 2, Bytes: 20})
	if u := p.MemoryUsage(); u.HeldBytes != 20 {
		t.Errorf("%+v", u)
	}
}

// What others take while the key has given up its buffer does not come back: the
// request fails, and the key loses the buffer. Neither stays in the cache.
func TestRoomTakenInTheMeantime(t *testing.T) {
	var p *Pool[string]
	take := func(have, want int) int {
		if have > 0 {
			if !p.budget.reserve(800) {
				t.Error("the old buffer still counts")
			}
			p.budget.had(800)
		}
		return want
	}
	p = open(t, Config{MaxBytes: 1000, Growth: take})
	f := &fickle{}
	p.policy.use(f)
	v := mustGet[byte](t, p, "k", 400)
	_, err := Acquire[byte](t.Context(), p, "k", 700)
	wantError(t, err, errOutOfMemory)
	if v.Valid() || len(f.has) != 0 || p.MemoryUsage().HeldBytes != 800 || p.MemoryUsage().LeftBytes != 400 {
		t.Errorf("valid %v, %d in the cache, %+v", v.Valid(), len(f.has), p.MemoryUsage())
	}
}

// A panic of the growth policy or of the device passes through. The key is as before, and free
// for others; nothing stays in the budget, nor out of the slab.Pool.
func TestAPanicUndoesAMiss(t *testing.T) {
	for _, from := range []string{"growth", "device"} {
		for _, shown := range []bool{true, false} {
			for _, c := range []Config{{}, {MaxBytes: 10_000}} {
				panics := ""
				c.Growth = func(have, want int) int {
					if panics == "growth" {
						panic("told to")
					}
					return want
				}
				heap, err := device.Open("heap")
				if err != nil {
					t.Fatal(err)
				}
				below, err := slab.Open(disturbed{heap, func() {
					if panics == "device" {
						panics = "" // once: an undo may need memory
						panic("told to")
					}
				}}, slab.Config{Strategy: "direct"})
				if err != nil {
					t.Fatal(err)
				}
				p := New[string](below, c)
				if shown {
					mustGet[byte](t, p, "k", 100)
				} else {
					release(t, acquire[byte](t, p, "k", 100))
				}
				for _, get := range []func(){
					func() { mustGet[byte](t, p, "k", 5000) },
					func() { acquire[byte](t, p, "k", 5000) },
				} {
					panics = from
					func() {
						defer func() {
							if recover() != "told to" {
								t.Error("no panic")
							}
						}()
						get()
					}()
					panics = ""
					if u := p.MemoryUsage(); u.HeldBytes != 100 || u.Keys["k"] != 100 || u.LeftBytes != 0 || below.Stats().ActiveBytes != 100 {
						t.Errorf("%s, shown %v: %+v, and %d bytes out", from, shown, u, below.Stats().ActiveBytes)
					}
				}
				release(t, acquire[byte](t, p, "k", 100))
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A lease that has no room takes nothing from other leases.
func TestABudgetErrorTakesNothingInUse(t *testing.T) {
	p := open(t, Config{MaxBytes: 10_000})
	a := acquire[byte](t, p, "a", 6000)
	a.Slice()[5999] = 7
	release(t, acquire[byte](t, p, "b", 3000)) // not in use: it may go
	var none *BudgetError
	if _, err := Acquire[byte](t.Context(), p, "c", 5000); !errors.As(err, &none) || none.Bytes != 5000 || none.MaxBytes != 10_000 {
		t.Errorf("%+v", none)
	}
	if a.Len() != 6000 || a.Slice()[5999] != 7 {
		t.Error("the lease has lost its memory")
	}
	release(t, a)
	release(t, acquire[byte](t, p, "c", 5000))
}
