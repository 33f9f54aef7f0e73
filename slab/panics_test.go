package slab

import (
	"io"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

const told = "told to"

// A breaking upstream panics in call number at, whatever the call is.
type breaking struct {
	*pages
	calls, at int
}

func (b *breaking) count() {
	if b.calls++; b.calls == b.at {
		panic(told)
	}
}

func (b *breaking) Alloc(size int) (device.Block, error) { b.count(); return b.pages.Alloc(size) }
func (b *breaking) Free(x device.Block)                  { b.count(); b.pages.Free(x) }

func (b *breaking) Reserve(size int) (device.Range, error) {
	b.count()
	r, err := b.pages.Reserve(size)
	return &breakingRange{r, b}, err
}

type breakingRange struct {
	device.Range
	b *breaking
}

func (r *breakingRange) Commit(off, n int) error   { r.b.count(); return r.Range.Commit(off, n) }
func (r *breakingRange) Decommit(off, n int) error { r.b.count(); return r.Range.Decommit(off, n) }
func (r *breakingRange) Close() error              { r.b.count(); return r.Range.Close() }

// A breakable is what the test below runs on.
type breakable struct {
	subject
	back   func()       // gives back what is held
	passes bool         // it does not know what is out: a block whose Free panics is out as before
	more   func() int64 // another count of the bytes that are upstream, or nil
}

func breakableStrategy(a Allocator, passes bool) breakable {
	return breakable{subject: strategySubject(a), passes: passes, back: a.(Holder).FreeHeld}
}

func breakablePool(t *testing.T, up Allocator, c Config) breakable {
	p := mustOpen(t, up, c)
	return breakable{subject: subjectOf(t, p), back: p.FreeHeld, more: p.pool.accounting.Managed}
}

// breakables are all strategies, wrappers and kinds of pools, by name.
func breakables(t *testing.T) map[string]func(up *breaking) breakable {
	over := map[string]func(up *breaking) breakable{
		"limit": func(up *breaking) breakable {
			l := NewLimit(up, 1<<30)
			s := breakableStrategy(strategyOn("exact", l, Config{}), false)
			s.more = l.InUse
			return s
		},
		"statistics": func(up *breaking) breakable {
			c := NewStatistics(strategyOn("direct", up, Config{}))
			s := breakableStrategy(c, true)
			s.more = func() int64 { return c.Counts().Bytes }
			return s
		},
		"record": func(up *breaking) breakable {
			return breakableStrategy(NewRecord(strategyOn("direct", up, Config{}), io.Discard), true)
		},
		"check": func(up *breaking) breakable {
			return breakableStrategy(NewCheck(strategyOn("direct", up, Config{})), true)
		},
	}
	for _, name := range Strategies() {
		over[name] = func(up *breaking) breakable {
			return breakableStrategy(strategyOn(name, up, Config{}), name == "direct")
		}
		for kind, c := range map[string]Config{"pool": {CacheBytes: -1}, "cached pool": {}, "checked pool": {Check: true}, "limited pool": {MaxBytes: 1 << 30}} {
			if c.Strategy = name; c.Validate() == nil {
				over[kind+" of "+name] = func(up *breaking) breakable { return breakablePool(t, up, c) }
			}
		}
	}
	return over
}

// Call n of the upstream panics, for every n, be it Alloc, Free, Reserve, Commit,
// Decommit or Close: the panic passes through, the counters add up to what is upstream,
// and all later calls work.
func TestAPanicOfTheUpstreamPassesThrough(t *testing.T) {
	for name, open := range breakables(t) {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				up := &breaking{pages: &pages{Source: source{Host: true, Capacity: 120_000}}, at: at}
				b := &breaker{t: t, s: open(up), up: up, rand: rand.New(rand.NewPCG(2, 2))}
				for range long(t, 25) {
					b.step()
				}
				b.end()
				if t.Failed() {
					t.Fatalf("with a panic in call %d", at)
				}
				if !b.fired {
					break
				}
			}
		})
	}
}

// A breaker is a random program that recovers from the panics of its upstream.
type breaker struct {
	t     *testing.T
	s     breakable
	up    *breaking
	rand  *rand.Rand
	live  []scripted
	bytes int64
	fired bool
}

// try runs f and reports whether the upstream panicked.
func (b *breaker) try(f func()) (panicked bool) {
	defer func() {
		if r := recover(); r == told {
			panicked, b.fired = true, true
		} else if r != nil {
			panic(r)
		}
	}()
	f()
	return false
}

func (b *breaker) step() {
	b.t.Helper()
	switch n := len(b.live); {
	case b.rand.IntN(10) == 0:
		b.try(b.s.back)
	case n > 0 && b.rand.IntN(2) == 0:
		b.free(b.rand.IntN(n))
	default:
		b.alloc([]int{100, 2000, 20_000, 50_000}[b.rand.IntN(4)])
	}
	b.check()
}

func (b *breaker) alloc(size int) {
	b.try(func() {
		m, release, err := b.s.alloc(size)
		if outOfMemory(err) {
			return
		}
		if err != nil {
			b.t.Fatal(err)
		}
		device.Fill(m, byte(size))
		b.live = append(b.live, scripted{m, size, release, byte(size)})
		b.bytes += int64(size)
	})
}

func (b *breaker) free(i int) {
	x := takeAt(&b.live, i)
	if poison.Unlike(x.m, x.mark) >= 0 {
		b.t.Fatalf("somebody wrote to a block of %d bytes", x.size)
	}
	if b.try(x.release) && b.s.passes {
		b.check()
		x.release()
	}
	b.bytes -= int64(x.size)
}

func (b *breaker) check() {
	b.t.Helper()
	u := b.s.usage()
	if u.ActiveBytes != b.bytes || u.ManagedBytes() != b.up.Bytes || min(u.RoundingBytes, u.HeldBytes, u.UnusableBytes) < 0 {
		b.t.Fatalf("usage %+v, but %d bytes are out and %d upstream", u, b.bytes, b.up.Bytes)
	}
	if b.s.more != nil && b.s.more() != b.up.Bytes {
		b.t.Fatalf("%d bytes are counted, %d upstream", b.s.more(), b.up.Bytes)
	}
}

func (b *breaker) end() {
	b.t.Helper()
	for len(b.live) > 0 {
		b.free(0)
		b.check()
	}
	if b.try(b.s.stop) {
		b.s.stop()
	}
	if b.check(); b.up.Out() != 0 || b.up.Open != 0 {
		b.t.Fatalf("%d blocks and %d ranges left", b.up.Out(), b.up.Open)
	}
}

// A Release that panics gives its block back, and so wakes who waits for memory: where a canary
// is dead, and where the upstream panics.
func TestAReleaseThatPanicsWakes(t *testing.T) {
	for _, s := range Strategies() {
		d := &panicky{Device: sim.New(2 << 20)}
		for name, p := range map[string]*Pool{
			"canary":   openPool(t, "heap", uncached(Config{Strategy: s, Check: true, MaxBytes: 2 << 20})),
			"upstream": mustOpen(t, d, uncached(Config{Strategy: s, MaxHeld: -1})),
		} {
			b := mustGet(t, p, 3<<19)
			c := getLater(t, t.Context(), p, 1<<20)
			if name == "canary" {
				*(*byte)(unsafe.Add(b.ptr, b.n)) = 7
			} else {
				d.in.Store(1)
			}
			if !doesPanic(func() { mustRelease(t, b) }) {
				t.Errorf("%s, %s: no panic", s, name)
			}
			mustRelease(t, mustHave(t, c))
		}
	}
}

// uncached is c without caches, where its strategy has some.
func uncached(c Config) Config {
	with := c
	if c.CacheBytes = -1; c.Validate() != nil {
		return with
	}
	return c
}
