package growpool

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Clear gives back what only leases have shown, down to the device, and FreeHeld is
// Clear. What Get has shown is left to the collector, and leases last.
func TestClearGivesBack(t *testing.T) {
	for name, clear := range map[string]func(*Pool[string]){"Clear": (*Pool[string]).Clear, "FreeHeld": (*Pool[string]).FreeHeld} {
		for _, maxBytes := range []int64{0, 1 << 20} {
			below := openSlab(t, "device=mmap,strategy=exact")
			p := New[string](below, Config{MaxBytes: maxBytes})
			release(t, acquire[byte](t, p, "leased", 100_000))
			v, out := mustGet[byte](t, p, "shown", 2000), acquire[byte](t, p, "out", 3000)
			clear(p)
			if s := below.Stats(); s.ActiveBytes != 5000 || s.HeldBytes != 0 {
				t.Errorf("%s, MaxBytes %d: %+v", name, maxBytes, s)
			}
			v.Slice()[0], out.Slice()[0] = 1, 1
			release(t, out)
			clear(p)
			if s := below.Stats(); s.ActiveBytes != 2000 || s.HeldBytes != 0 || v.Valid() {
				t.Errorf("%s, MaxBytes %d: %+v", name, maxBytes, s)
			}
			p.Close()
		}
	}
}

// A reluctant device panics in the next Free, if it is told to.
type reluctant struct {
	device.Device
	panics *bool
}

func (d reluctant) Free(b device.Block) {
	if *d.panics {
		*d.panics = false
		panic("told to")
	}
	d.Device.Free(b)
}

// A Release that panics passes through whatever called it. No key stays locked or leased, the
// budget has its bytes back, and the other keys lose their buffers as they would have.
func TestAPanicOfAReleaseLocksNoKey(t *testing.T) {
	heap, err := device.Open("heap")
	if err != nil {
		t.Fatal(err)
	}
	for name, does := range map[string]func(*Pool[string], *Lease[byte]){
		"Clear":  func(p *Pool[string], _ *Lease[byte]) { p.Clear() },
		"Close":  func(p *Pool[string], _ *Lease[byte]) { p.Close() },
		"a grow": func(p *Pool[string], _ *Lease[byte]) { acquire[byte](t, p, "a", 200) },
		"no room": func(p *Pool[string], _ *Lease[byte]) {
			b, err := p.slab.Get(900)
			t.Errorf("%d bytes, %v", b.Len(), err)
		},
		"a lease": func(p *Pool[string], l *Lease[byte]) { l.Release() },
	} {
		for _, c := range []Config{{}, {MaxBytes: 1000}} {
			panics := false
			below, err := slab.Open(reluctant{heap, &panics}, slab.Config{Strategy: "direct", MaxBytes: 1000})
			if err != nil {
				t.Fatal(err)
			}
			p := New[string](below, c)
			l := acquire[byte](t, p, "leased", 100)
			if name == "a lease" {
				p.Clear() // so that its Release is the end of the buffer
			}
			release(t, acquire[byte](t, p, "a", 100))
			release(t, acquire[byte](t, p, "b", 100))
			panics = true
			func() {
				defer func() {
					if recover() != "told to" {
						t.Errorf("%s: no panic", name)
					}
				}()
				does(p, l)
			}()
			for e := range p.table.all() {
				if !e.mu.TryLock() {
					t.Fatalf("%s: key %s is locked", name, e.key)
				}
				e.mu.Unlock()
			}
			if (name == "Clear" || name == "Close") && p.MemoryUsage().TotalBytes != 0 {
				t.Errorf("%s: %+v", name, p.MemoryUsage())
			}
			if err := l.Release(); err != nil && name != "a lease" {
				t.Error(name, err)
			}
			if err := p.Close(); err != nil {
				t.Error(name, err)
			}
			if held, out := p.MemoryUsage().HeldBytes, below.Stats().ActiveBytes; held != 0 || out != 0 {
				t.Errorf("%s, MaxBytes %d: %d bytes in the budget, %d out", name, c.MaxBytes, held, out)
			}
		}
	}
}

// After StopHolding no key keeps a buffer, and leases go upstream with their Release.
func TestStopHoldingKeepsNothing(t *testing.T) {
	for _, maxBytes := range []int64{0, 1 << 20} {
		below := openSlab(t, "device=mmap,strategy=exact")
		p := New[string](below, Config{MaxBytes: maxBytes})
		release(t, acquire[byte](t, p, "k", 1000))
		p.StopHolding()
		l := acquire[byte](t, p, "k", 1000)
		l.Slice()[999] = 1
		v := mustGet[byte](t, p, "l", 2000)
		v.Slice()[1999] = 1
		if u := p.MemoryUsage(); u.TotalBytes != 0 || u.HeldBytes != 1000 || below.Stats().ActiveBytes != 3000 {
			t.Errorf("%+v, %+v", u, below.Stats())
		}
		release(t, l)
		if s := below.Stats(); s.ActiveBytes != 2000 || s.HeldBytes != 0 {
			t.Errorf("%+v", s)
		}
		p.Close()
	}
}

// Where the slab.Pool has no room, keys that are not in use give their buffers up: of
// what only leases have shown, and of keys whose lock is free.
func TestNoRoomTakesWhatIsNotInUse(t *testing.T) {
	below := openSlab(t, "device=mmap,max_bytes=1000000,strategy=direct")
	one, two := New[string](below, Config{}), New[string](below, Config{MaxBytes: 1 << 20})
	defer one.Close()
	defer two.Close()
	for _, p := range []*Pool[string]{one, two} {
		release(t, acquire[byte](t, p, "idle", 200_000))
		mustGet[byte](t, p, "shown", 10_000)
	}
	out := acquire[byte](t, one, "out", 50_000)
	// This miss holds the lock of its own key, and so needs what the others have.
	release(t, acquire[byte](t, one, "new", 900_000))
	wantStats(t, one, "idle", KeyStats{Misses: 1})
	if len(two.Stats()) != 1 || two.MemoryUsage().HeldBytes != 10_000 {
		t.Errorf("%+v", two.Stats())
	}
	for _, p := range []*Pool[string]{one, two} {
		if s := p.Stats()["shown"]; s.Bytes != 10_000 {
			t.Errorf("what Get has shown was taken: %+v", s)
		}
	}
	out.Slice()[0] = 1
	release(t, out)
}

// asked returns how many the slab.Pool asks for room, which only it knows.
func asked(below *slab.Pool) int {
	of := reflect.ValueOf(below).Elem().FieldByName("pool").Elem().FieldByName("reclaimers")
	mu := (*sync.Mutex)(of.FieldByName("mu").Addr().UnsafePointer())
	mu.Lock()
	defer mu.Unlock()
	return of.FieldByName("set").Len()
}

// A Pool that was closed or forgotten is asked for nothing any more.
func TestEndedPoolsAreNotAsked(t *testing.T) {
	below := openSlab(t, "device=heap")
	closed := New[int](below, Config{})
	New[string](below, Config{})
	if n := asked(below); n != 2 {
		t.Fatalf("%d are asked, not 2", n)
	}
	closed.Close()
	for range 100 {
		if asked(below) == 0 {
			return
		}
		runtime.GC()
		runtime.Gosched()
	}
	runtime.KeepAlive(closed) // it was Close that ended it
	t.Errorf("%d are asked after the end", asked(below))
}

// A Pool that New has not made is an error, or a panic that says so.
func TestZeroPool(t *testing.T) {
	for _, p := range []*Pool[string]{nil, {}} {
		for _, shape := range [][]int{{1}, {2, 2}} {
			_, err := Get[byte](p, "k", shape...)
			wantError(t, err, device.ErrUnavailable)
			_, err = Acquire[byte](t.Context(), p, "k", shape...)
			wantError(t, err, device.ErrUnavailable)
		}
		for name, call := range map[string]func(){
			"Clear": p.Clear, "FreeHeld": p.FreeHeld, "StopHolding": p.StopHolding, "ClearStats": p.ClearStats,
			"Stats": func() { p.Stats() }, "Totals": func() { p.Totals() }, "MemoryUsage": func() { p.MemoryUsage() }, "Close": func() { p.Close() },
		} {
			func() {
				defer func() {
					if r := recover(); r != "growpool: a nil or zero Pool, which New has not made" {
						t.Errorf("%s: %v", name, r)
					}
				}()
				call()
			}()
		}
	}
}

// A Lease that no Acquire returned is released already, and shows what the zero View does:
// nothing.
func TestZeroLease(t *testing.T) {
	for _, l := range []*Lease[byte]{nil, {}} {
		wantError(t, l.Release(), ErrReleased)
		if l.Slice() != nil || l.Shape() != nil || l.Len() != 0 || l.Valid() || l.Block() != (device.Block{}) {
			t.Error("it shows something")
		}
		for name, use := range map[string]func(){
			"At": func() { l.At(0) }, "Set": func() { l.Set(1) }, "Row": func() { l.Row() },
		} {
			func() {
				defer func() {
					if says, ours := recover().(string); !ours || !strings.HasPrefix(says, "growpool: index") {
						t.Errorf("%s panics without a sentence of ours", name)
					}
				}()
				use()
			}()
		}
	}
}

// A nil context never ends.
func TestAcquireWithoutAContext(t *testing.T) {
	var none context.Context
	l, err := Acquire[byte](none, open(t, Config{}), "k", 1)
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
}
