package wrap_test

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/wrap"
)

func TestEachWrapperHasAnUpstream(t *testing.T) {
	for name, wrap := range wrappers {
		if got := panicOf(func() { wrap(nil) }); got != "slab: a wrapper has no upstream" {
			t.Errorf("%s: panic %v", name, got)
		}
	}
}

func TestWrappersPassReserveOn(t *testing.T) {
	eachLayer(func(name string, wrap func(slab.Allocator) slab.Allocator) {
		if _, err := wrap(&source{}).(device.Reserver).Reserve(100); !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("%s of an upstream that cannot reserve: %v", name, err)
		}
		up := &pages{}
		r, err := wrap(up).(device.Reserver).Reserve(10 * page)
		if err != nil || r.Region().Size() != 10*page {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.Commit(0, 6*page); err != nil || up.Bytes != 6*page {
			t.Errorf("%s: %v, %d bytes committed", name, err, up.Bytes)
		}
		if err := r.Close(); err != nil || up.Bytes != 0 {
			t.Errorf("%s: %v, %d bytes committed", name, err, up.Bytes)
		}
	})
}

// A Limit has nothing to give back itself: what is above it asks the strategy below.
func TestWrappersInAnyOrderReachAStrategy(t *testing.T) {
	back := map[string]func(*slab.Pool){
		"FreeHeld":    (*slab.Pool).FreeHeld,
		"Trim":        func(p *slab.Pool) { p.Trim(0) },
		"StopHolding": (*slab.Pool).StopHolding,
	}
	eachLayer(func(outer string, over func(slab.Allocator) slab.Allocator) {
		eachLayer(func(inner string, under func(slab.Allocator) slab.Allocator) {
			for call, giveBack := range back {
				up := &source{Host: true}
				p := mustOpen(t, over(under(on("bestfit", up, slab.Config{}))), slab.Config{Strategy: "direct"})
				if err := mustGet(t, p, 100_000).Release(); err != nil {
					t.Error(err)
				}
				if s := p.Stats(); s.HeldBytes != up.Bytes || up.Bytes == 0 {
					t.Errorf("%s over %s: %d bytes are held, %v", outer, inner, up.Bytes, s)
				}
				if giveBack(p); up.Bytes != 0 {
					t.Errorf("%s over %s: %d bytes are held after %s", outer, inner, up.Bytes, call)
				}
			}
		})
	})
}

// Pools on a Limit give back for each other, and know their device, also through a wrapper. A Check
// passes neither on: its blocks are parts of others.
func TestPoolsShareALimitThroughWrappers(t *testing.T) {
	for name, wrap := range wrappers {
		d, _ := device.Open("mmap")
		l := slab.NewLimit(d, 1<<20)
		one, two := mustOpen(t, wrap(l), slab.Config{Device: "mmap"}), mustOpen(t, wrap(l), slab.Config{Device: "mmap"})
		mustGet(t, one, 700<<10).Release()
		_, err := two.Get(700 << 10)
		if passes := name != "check"; (err == nil) != passes || (one.Device() == d) != passes || (one.Stats().ManagedBytes == 0) != passes {
			t.Errorf("%s: %v, device %v, %v", name, err, one.Device(), one.Stats())
		}
		one.Close()
		two.Close()
	}
}

// A block of a foreign upstream is verified once, however many of our layers
// are above it.
func TestABlockIsVerifiedOnceInAStack(t *testing.T) {
	for _, name := range []string{"direct", "exact"} {
		stack := func(a slab.Allocator) slab.Allocator {
			return wrap.NewStatistics(slab.NewLimit(on(name, a, slab.Config{}), 1<<20))
		}
		r := upstreamtest.NewRegion(1 << 20)
		a := stack(stack(stack(&upstreamtest.Fixed{Block: device.Block{Region: r, Len: 1000}})))
		if mustAlloc(t, a, 1000); r.Measured.Load() != 1 {
			t.Errorf("%s: its region was measured %d times", name, r.Measured.Load())
		}
	}
}
