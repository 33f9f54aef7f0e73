package slab

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// over returns two Limits over an upstream: layers that pass its blocks on.
func over(up Allocator) Allocator { return NewLimit(NewLimit(up, 1<<20), 1<<20) }

// Layers pass Reserve on, and its error.
func TestLayersPassReserveOn(t *testing.T) {
	if _, err := over(&source{}).(device.Reserver).Reserve(100); !errors.Is(err, device.ErrUnavailable) {
		t.Errorf("an upstream that cannot reserve: %v", err)
	}
	const page = upstreamtest.Page
	up := &pages{}
	r, err := over(up).(device.Reserver).Reserve(10 * page)
	if err != nil || r.Region().Size() != 10*page {
		t.Fatal(err)
	}
	if err := r.Commit(0, 6*page); err != nil || up.Bytes != 6*page {
		t.Errorf("%v, %d bytes committed", err, up.Bytes)
	}
	if err := r.Close(); err != nil || up.Bytes != 0 {
		t.Errorf("%v, %d bytes committed", err, up.Bytes)
	}
}

// A Limit holds nothing itself: a pool above it has the strategy below give back.
func TestAPoolReachesAStrategyThroughLayers(t *testing.T) {
	for call, giveBack := range map[string]func(*Pool){
		"FreeHeld": (*Pool).FreeHeld, "Trim": func(p *Pool) { p.Trim(0) }, "StopHolding": (*Pool).StopHolding,
	} {
		up := &source{Host: true}
		s := check.Ok(NewStrategy("bestfit", up, Config{}))(t)
		p := check.Ok(Open(over(s), Config{Strategy: "direct"}))(t)
		mustRelease(t, mustGet(t, p, 100_000))
		if s := p.Stats(); s.HeldBytes != up.Bytes || up.Bytes == 0 || s.HeldBlocks != 1 {
			t.Errorf("%d bytes are held, %v", up.Bytes, s)
		}
		if giveBack(p); up.Bytes != 0 {
			t.Errorf("%d bytes are held after %s", up.Bytes, call)
		}
		p.Close()
	}
}

// What a strategy below cannot use counts as the pool's.
func TestWhatIsUnusableBelowCounts(t *testing.T) {
	below := holderOn("sizeclass", &source{Host: true}, Config{})
	p := mustOpen(t, below, Config{Strategy: "direct"})
	b := mustGet(t, p, 150) // of a slab with a tail
	if s, u := p.Stats(), below.Usage(); u.UnusableBytes == 0 || s.UnusableBytes != u.UnusableBytes || s.HeldBytes != u.HeldBytes || s.HeldBlocks != u.HeldBlocks {
		t.Errorf("%+v over %+v", s, u)
	}
	checkQuiet(t, p)
	mustRelease(t, b)
	check.Must(t, p.Close())
}

// A block of a foreign upstream is verified once, however many of our layers are above it.
func TestABlockIsVerifiedOnceInAStack(t *testing.T) {
	for _, name := range []string{"direct", "exact"} {
		stack := func(a Allocator) Allocator { return over(check.Ok(NewStrategy(name, a, Config{}))(t)) }
		r := upstreamtest.NewRegion(1 << 20)
		a := stack(stack(stack(&upstreamtest.Fixed{Block: device.Block{Region: r, Len: 1000}})))
		if mustAlloc(t, a, 1000); r.Measured.Load() != 1 {
			t.Errorf("%s: its region was measured %d times", name, r.Measured.Load())
		}
	}
}
