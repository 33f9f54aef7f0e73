package slab

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A Get that fails as an earlier one has: how quick that is, and what ends it.

const refusedSize = 64 << 10

// triedBlocks are a strategy that counts how often the pool tries it.
type triedBlocks struct {
	numbered
	tries *atomic.Int64
}

func (b triedBlocks) AllocExtent(size int) (device.Block, int32, error) {
	b.tries.Add(1)
	return b.numbered.AllocExtent(size)
}

// countTries returns a count of the calls to a pool's strategy. The pool goes by no shortcut any more.
func countTries(p *Pool) *atomic.Int64 {
	n := new(atomic.Int64)
	p.pool.blocks, p.pool.joint = triedBlocks{p.pool.blocks, n}, nil
	return n
}

// fillUp gets buffers of n bytes until there is no room.
func fillUp(t testing.TB, p *Pool, n int) (out []PooledBuffer) {
	t.Helper()
	for {
		b, err := p.Get(n)
		if err != nil {
			wantFull(t, p, n)
			return out
		}
		out = append(out, b)
	}
}

// wantFull fails if there is room for n bytes.
func wantFull(t testing.TB, p *Pool, n int) *OutOfMemoryError {
	t.Helper()
	_, err := p.Get(n)
	var full *OutOfMemoryError
	if !errors.As(err, &full) || full.Size != n || !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("Get of %d bytes: %v", n, err)
	}
	return full
}

// wantNoted fails if a Get that fails is tried.
func wantNoted(t testing.TB, p *Pool, n int) {
	t.Helper()
	tries := countTries(p)
	if wantFull(t, p, n); tries.Load() > 0 {
		t.Fatalf("%d bytes were tried again", n)
	}
}

// Where memory may come back with no sign each Get is tried: a pool with a guard, of a registered strategy, on a device
// that refuses, and under what is no Limit.
func TestWhatTellsNothingIsTriedAgain(t *testing.T) {
	full := NewLimit(openDevice(t, "mmap"), 1<<20)
	register(t, "own", func(up Allocator, _ Config) Allocator { return check.Ok(NewStrategy("exact", up, Config{}))(t) })
	for name, p := range map[string]*Pool{
		"a guard":          openLine(t, "device=mmap,max_bytes=1MiB,guard=100"),
		"a strategy":       mustOpen(t, NewLimit(openDevice(t, "mmap"), 1<<20), Config{Strategy: "own"}),
		"a device":         openLine(t, "device=virtual:fixed,1MiB"),
		"a strategy below": mustOpen(t, check.Ok(NewStrategy("sizeclass", full, Config{}))(t), Config{Strategy: "slab"}),
	} {
		out := fillUp(t, p, refusedSize)
		wantFull(t, p, refusedSize)
		tries := countTries(p)
		if wantFull(t, p, refusedSize); tries.Load() == 0 {
			t.Errorf("%s: a refusal was noted", name)
		}
		releaseAll(t, out)
	}
}

// Of 20,000 Gets that fail the first one searches, and the others allocate nothing. Each counts and is told to the
// hook. One Release makes room for one Get.
func TestARefusalStandsUntilSomethingChanges(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		for _, strategy := range Strategies() {
			t.Run(dev+"/"+strategy, func(t *testing.T) {
				var told int64
				hooks := &Hooks{OutOfMemory: func(*OutOfMemoryError) { told++ }}
				p := openPool(t, dev, Config{Strategy: strategy, MaxBytes: 4 << 20, Hooks: hooks})
				out := fillUp(t, p, refusedSize)
				tries, before := countTries(p), p.Stats()
				told = 0
				first := wantFull(t, p, refusedSize)
				var err error
				allocs := testing.AllocsPerRun(20_000, func() { _, err = p.Get(refusedSize) })
				s := p.Stats()
				if allocs > 0 || tries.Load() > 0 || s.Collections > before.Collections || err != error(first) {
					t.Errorf("%v allocations, %d tries, %d collections, %v", allocs, tries.Load(), s.Collections-before.Collections, err)
				}
				if s.Failed-before.Failed != 20_002 || told != 20_002 {
					t.Errorf("%d of 20,002 counted, %d told", s.Failed-before.Failed, told)
				}
				if first.ActiveBytes != s.ActiveBytes || first.HeldBytes != s.HeldBytes {
					t.Errorf("%v, but %+v", first, s)
				}
				for i := range 3 {
					mustRelease(t, out[i])
					out[i] = mustGet(t, p, refusedSize)
					wantFull(t, p, refusedSize)
				}
				for _, b := range out {
					mustRelease(t, b)
				}
			})
		}
	}
}

// A refusal holds for more bytes of the class, with one allocation for the error, and not for fewer.
func TestARefusalHoldsForMoreBytes(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{MaxBytes: 4 << 20})
		fillUp(t, p, 57<<10)
		tries := countTries(p)
		full := new(OutOfMemoryError)
		allocs := testing.AllocsPerRun(100, func() {
			_, err := p.Get(57<<10 + 100)
			full = err.(*OutOfMemoryError)
		})
		if allocs != 1 || tries.Load() > 0 || full.Size != 57<<10+100 || full.Class < full.Size {
			t.Errorf("%s: %v allocations, %d tries, %v", dev, allocs, tries.Load(), full)
		}
		rest := fillUp(t, p, 1000)
		if tries.Load() == 0 || len(rest) == 0 && dev == "mmap" {
			t.Errorf("%s: 1,000 bytes were not tried", dev)
		}
	}
}

// An overloaded is a full Limit with two pools of which p has just failed to get refusedSize bytes.
type overloaded struct {
	limit *Limit
	p, q  *Pool
	mine  []PooledBuffer // of p
	other PooledBuffer   // of q
	more  device.Block   // of the Limit
	child *Limit         // with a promise of refusedSize bytes
}

func overload(t *testing.T, dev string, c Config) *overloaded {
	t.Helper()
	c.Device = dev
	o := &overloaded{limit: NewLimit(openDevice(t, dev), 4<<20)}
	var err error
	o.child, err = o.limit.Within(1<<20, 256<<10)
	check.Must(t, err)
	o.more, err = o.limit.Alloc(256 << 10)
	check.Must(t, err)
	o.p, o.q = mustOpen(t, o.limit, c), mustOpen(t, o.limit, c)
	t.Cleanup(func() {
		for _, b := range append(o.mine, o.other) {
			_ = b.Release() // a test may have released it
		}
		_ = errors.Join(o.p.Close(), o.q.Close())
	})
	for range 100 { // the caches keep such blocks
		for _, p := range []*Pool{o.p, o.q} {
			a, b := mustGet(t, p, refusedSize), mustGet(t, p, refusedSize)
			mustRelease(t, a)
			mustRelease(t, b)
		}
	}
	o.other = mustGet(t, o.q, refusedSize)
	o.mine = fillUp(t, o.p, refusedSize)
	return o
}

// changes are what makes room for refusedSize bytes. Each begins when a refusal stands, which refuse makes anew.
var changes = map[string]func(t *testing.T, o *overloaded, refuse func()){
	"a Release": func(t *testing.T, o *overloaded, _ func()) { mustRelease(t, o.mine[0]) },
	"a late Release": func(t *testing.T, o *overloaded, _ func()) {
		check.Must(t, o.mine[0].With(func([]byte) { mustRelease(t, o.mine[0]); wantFull(t, o.p, refusedSize) }))
	},
	"a part's end": func(t *testing.T, o *overloaded, _ func()) {
		part, err := o.mine[0].Share()
		check.Must(t, err)
		mustRelease(t, o.mine[0])
		wantFull(t, o.p, refusedSize)
		mustRelease(t, part)
	},
	"a Put": func(t *testing.T, o *overloaded, refuse func()) {
		mustRelease(t, o.mine[0])
		m, err := o.p.GetBytes(refusedSize)
		check.Must(t, err)
		refuse()
		check.Must(t, o.p.Put(m))
	},
	"Releases that a cache keeps": func(t *testing.T, o *overloaded, _ func()) {
		for i := range 3 {
			mustRelease(t, o.mine[i])
		}
		for range 2 {
			mustGet(t, o.p, refusedSize)
		}
	},
	"a Release of another pool": func(t *testing.T, o *overloaded, _ func()) { mustRelease(t, o.other) },
	"Close of another pool": func(t *testing.T, o *overloaded, _ func()) {
		if o.q.Close() == nil {
			t.Error("nothing is out")
		}
		mustRelease(t, o.other)
	},
	"a Free to the Limit":  func(t *testing.T, o *overloaded, _ func()) { o.limit.Free(o.more) },
	"the end of a promise": func(t *testing.T, o *overloaded, _ func()) { o.child.EndGuarantee() },
	"a pool of the child": func(t *testing.T, o *overloaded, refuse func()) {
		c := mustOpen(t, o.child, Config{Strategy: "direct"})
		for _, b := range o.mine[:8] {
			mustRelease(t, b)
		}
		b := mustGet(t, c, 256<<10+6*refusedSize)
		fillUp(t, o.p, refusedSize)
		refuse()
		mustRelease(t, b)
	},
	"a stream's end": func(t *testing.T, o *overloaded, _ func()) {
		s := &stalled{gate: make(chan struct{})}
		used(t, o.mine[0], s)
		mustRelease(t, o.mine[0])
		close(s.gate)
	},
	"a keeper": func(t *testing.T, o *overloaded, _ func()) { o.q.AddReclaimer(lastKept{&o.other}) },
	"Grow to another block": func(t *testing.T, o *overloaded, _ func()) {
		b, err := o.mine[0].Grow(1000)
		check.Must(t, err)
		mustRelease(t, b)
	},
	"a collection": func(t *testing.T, o *overloaded, _ func()) {
		p := o.p
		*o = overloaded{limit: o.limit, p: o.p, q: o.q}
		runtime.GC() // the pool hears of it soon
		eventually(t, "there is room", func() bool {
			b, err := p.Get(refusedSize)
			b.discard()
			return err == nil
		})
	},
}

// A lastKept keeps a buffer.
type lastKept struct{ b *PooledBuffer }

func (k lastKept) FreeHeld() { k.b.discard() }

// All that makes room ends the refusal. A collection does, too, so none may begin by itself.
func TestWhatMakesRoomEndsARefusal(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for strategy, dev := range map[string]string{"direct": "mmap", "sizeclass": "heap", "slab": "mmap"} {
		for name, change := range changes {
			t.Run(strategy+"/"+name, func(t *testing.T) {
				o := overload(t, dev, Config{Strategy: strategy, GCTrigger: -1})
				p := o.p
				refuse := func() { wantFull(t, p, refusedSize); wantNoted(t, p, refusedSize) }
				refuse()
				change(t, o, refuse)
				mustRelease(t, mustGet(t, p, refusedSize))
			})
		}
	}
}

// Beside four goroutines whose Gets always fail, a Get succeeds whenever a block was released before it began.
func TestNoFalseRefusal(t *testing.T) {
	for dev, strategy := range map[string]string{"heap": "sizeclass", "mmap": "slab"} {
		t.Run(dev, func(t *testing.T) {
			needRange(t, dev)
			o := overload(t, dev, Config{Strategy: strategy})
			var stop atomic.Bool
			var all sync.WaitGroup
			for _, p := range []*Pool{o.p, o.q, o.p, o.q} {
				all.Go(func() {
					for !stop.Load() {
						if b, err := p.Get(2 * refusedSize); err == nil {
							t.Error("there was room for two blocks")
							b.discard()
						}
					}
				})
			}
			defer all.Wait()
			defer stop.Store(true)
			for i := range 4 {
				if wantFull(t, o.p, refusedSize); i%2 == 0 {
					mustRelease(t, o.mine[0])
					o.mine[0] = mustGet(t, o.p, refusedSize)
					continue
				}
				mustRelease(t, o.other)
				mustRelease(t, mustGet(t, o.p, refusedSize))
				o.other = mustGet(t, o.q, refusedSize)
			}
		})
	}
}

// Each Watch has a number of its own, which is odd until a change was told. Where streams or keepers may give memory back
// there is none.
func TestEachWatchEndsByItself(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection is a change, too
	l := NewLimit(openDevice(t, "heap"), 1<<20)
	p := mustOpen(t, l, Config{Strategy: "direct"})
	watch := &p.pool.refusals.watch
	seen := map[uint64]bool{}
	for i := range 4 {
		if !p.pool.Watch(&l.budget) || watch.Load()%2 == 0 || seen[watch.Load()] {
			t.Errorf("Watch %d has number %d", i, watch.Load())
		}
		seen[watch.Load()] = true
		if i%2 != 0 {
			continue // the next begins beside it
		}
		if p.pool.changed(); watch.Load()%2 != 0 {
			t.Errorf("Watch %d goes on after a change: %d", i, watch.Load())
		}
	}
	k := &oneKeeper{}
	p.AddReclaimer(k)
	if p.pool.Watch(&l.budget) {
		t.Error("a keeper tells nothing")
	}
	p.RemoveReclaimer(k)
	s := &stalled{gate: make(chan struct{})}
	b := mustGet(t, p, 1000)
	used(t, b, s)
	mustRelease(t, b)
	if p.pool.Watch(&l.budget) {
		t.Error("a stream tells nothing")
	}
	close(s.gate)
	check.Must(t, p.Close())
	below := check.Ok(NewStrategy("exact", l, Config{}))(t)
	for name, q := range map[string]*Pool{"a guard": mustOpen(t, l, Config{Guard: 100}), "a strategy below": mustOpen(t, below, Config{})} {
		if q.pool.Watch(&l.budget) {
			t.Errorf("%s tells nothing", name)
		}
		check.Must(t, q.Close())
	}
}
