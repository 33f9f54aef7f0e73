package slab

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device/sim"
)

func breakableOf(s subject, back func(), passes bool, more func() int64) breakable {
	usage := func() (active, managed, least int64) {
		u := s.usage()
		return u.ActiveBytes, u.ManagedBytes(), min(u.RoundingBytes, u.HeldBytes, u.UnusableBytes)
	}
	return breakable{Alloc: s.alloc, Usage: usage, Back: back, Stop: s.stop, Passes: passes, More: more}
}

func breakableStrategy(a Allocator, passes bool) breakable {
	return breakableOf(strategySubject(a), a.(Holder).FreeHeld, passes, nil)
}

func breakablePool(t *testing.T, up Allocator, c Config) breakable {
	p := mustOpen(t, up, c)
	return breakableOf(subjectOf(t, p), p.FreeHeld, false, p.pool.accounting.Managed)
}

// breakables are all strategies, kinds of pools, and wrappers of this package, by name.
func breakables(t *testing.T) map[string]func(up *breaking) breakable {
	over := map[string]func(up *breaking) breakable{
		"limit": func(up *breaking) breakable {
			l := NewLimit(up, 1<<30)
			s := breakableStrategy(strategyOn("exact", l, Config{}), false)
			s.More = l.InUse
			return s
		},
		"check": func(up *breaking) breakable {
			return breakableStrategy(checkOn(strategyOn("direct", up, Config{})), true)
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

// A panic in any call of the upstream passes through, and the stack is whole after it.
func TestAPanicOfTheUpstreamPassesThrough(t *testing.T) {
	for name, open := range breakables(t) {
		t.Run(name, func(t *testing.T) { breakEach(t, long(t, 15), open) })
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
