package slab

import (
	"errors"
	"io"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstreamtest"
)

// wrapper is what all wrappers are.
type wrapper interface {
	Allocator
	device.Reserver
}

var wrappers = map[string]func(Allocator) wrapper{
	"limit":  func(u Allocator) wrapper { return NewLimit(u, 1<<20) },
	"scopes": func(u Allocator) wrapper { return NewStatistics(u) },
	"record": func(u Allocator) wrapper { return NewRecord(u, io.Discard) },
	"check":  func(u Allocator) wrapper { return NewCheck(u) },
}

func TestWrappersPassReserveOn(t *testing.T) {
	for name, wrap := range wrappers {
		if _, err := wrap(&source{}).Reserve(100); !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("%s of an upstream that cannot reserve: %v", name, err)
		}
		up := &pages{}
		r, err := wrap(up).Reserve(10 * page)
		if err != nil || r.Region().Size() != 10*page {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.Commit(0, 6*page); err != nil || up.Bytes != 6*page {
			t.Errorf("%s: %v, %d bytes committed", name, err, up.Bytes)
		}
		if err := r.Close(); err != nil || up.Bytes != 0 {
			t.Errorf("%s: %v, %d bytes committed", name, err, up.Bytes)
		}
	}
}

// A Limit has nothing to give back itself: what is above it asks the strategy below.
func TestWrappersInAnyOrderReachAStrategy(t *testing.T) {
	back := map[string]func(*Pool){
		"FreeHeld":    (*Pool).FreeHeld,
		"Trim":        func(p *Pool) { p.Trim(0) },
		"StopHolding": (*Pool).StopHolding,
	}
	for outer, over := range wrappers {
		for inner, under := range wrappers {
			for call, giveBack := range back {
				up := &source{Host: true}
				p := mustOpen(t, over(under(strategyOn("bestfit", up, Config{}))), Config{Strategy: "direct"})
				mustRelease(t, mustGet(t, p, 100_000))
				if s := p.Stats(); s.HeldBytes != up.Bytes || up.Bytes == 0 {
					t.Errorf("%s over %s: %d bytes are held, %v", outer, inner, up.Bytes, s)
				}
				if giveBack(p); up.Bytes != 0 {
					t.Errorf("%s over %s: %d bytes are held after %s", outer, inner, up.Bytes, call)
				}
			}
		}
	}
}

func TestScopesDoNotCountNothing(t *testing.T) {
	s := NewStatistics(&source{})
	if _, err := s.Alloc(0); err != nil {
		t.Fatal(err)
	}
	s.Free(device.Block{})
	s.Free(device.Block{})
	if s.Counts() != (Counts{}) {
		t.Errorf("counts %+v", s.Counts())
	}
}

func TestAScopeCountsFromZeroAndFoldsIntoTheOneAround(t *testing.T) {
	s := NewStatistics(&source{})
	a := mustAlloc(t, s, 100)
	s.Push()
	s.Free(mustAlloc(t, s, 40))
	s.Free(a)
	want := Counts{Allocs: 1, Frees: 2, Bytes: -100, PeakBytes: 40, AllocatedBytes: 40, Blocks: -1, PeakBlocks: 1}
	if got := s.Pop(); got != want {
		t.Errorf("inner scope %+v, want %+v", got, want)
	}
	want = Counts{Allocs: 2, Frees: 2, PeakBytes: 140, AllocatedBytes: 140, PeakBlocks: 2}
	if got := s.Counts(); got != want {
		t.Errorf("outer scope %+v, want %+v", got, want)
	}
}

// A handingOver hands the place of a block out again before its Free returns, as another
// goroutine can have it.
type handingOver struct {
	Allocator
	freed func()
}

func (h *handingOver) Free(b device.Block) {
	h.Allocator.Free(b)
	h.freed()
}

// Of a Limit of one block there are never two out.
func TestScopesHaveNoPeakThatNeverWas(t *testing.T) {
	up := &handingOver{Allocator: NewLimit(&source{}, 100), freed: func() {}}
	s := NewStatistics(up)
	b := mustAlloc(t, s, 100)
	up.freed = func() { b = mustAlloc(t, s, 100) }
	s.Free(b)
	up.freed = func() {}
	s.Free(b)
	want := Counts{Allocs: 2, Frees: 2, PeakBytes: 100, AllocatedBytes: 200, PeakBlocks: 1}
	if got := s.Counts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestOnlyDevicesAndWhatPassesThemOnHaveRegionsOfTheirOwn(t *testing.T) {
	d := upstreamtest.Device{Source: &source{}}
	for _, c := range []struct {
		a    Allocator
		want bool
	}{
		{d, true}, {NewLimit(d, 1), true}, {NewStatistics(NewLimit(d, 1)), true},
		{&source{}, false}, {NewLimit(&source{}, 1), false}, {holderOn("exact", d, Config{}), false}, {NewCheck(d), false},
	} {
		if ownsRegions(c.a) != c.want {
			t.Errorf("%T: %v", c.a, !c.want)
		}
		if own := deviceOf(c.a) == device.Device(d); own != c.want {
			t.Errorf("%T: its device is %v", c.a, deviceOf(c.a))
		}
	}
	if account(d, 16, nil).OwnsRegions() != true || account(&source{}, 16, nil).OwnsRegions() {
		t.Error("the accounting knows something else")
	}
}

// A block of a foreign upstream is verified once, however many of our layers
// are above it.
func TestABlockIsVerifiedOnceInAStack(t *testing.T) {
	for name, stack := range map[string]func(Allocator) Allocator{
		"direct": func(a Allocator) Allocator { return NewStatistics(NewLimit(strategyOn("direct", a, Config{}), 1<<20)) },
		"exact":  func(a Allocator) Allocator { return NewStatistics(NewLimit(strategyOn("exact", a, Config{}), 1<<20)) },
		"as a pool stacks them": func(a Allocator) Allocator {
			on := account(newLimit(a, 1<<20, 16), 16, func(device.Region) func() { return func() {} })
			return newStrategy(on.Checked(), Config{Strategy: "exact"}.withDefaults(), knowledge{}, front{})
		},
	} {
		r := upstreamtest.NewRegion(1 << 20)
		a := Allocator(&upstreamtest.Fixed{Block: device.Block{Region: r, Len: 1000}})
		if a = stack(a); name != "as a pool stacks them" {
			a = stack(stack(a))
		}
		if mustAlloc(t, a, 1000); r.Measured.Load() != 1 {
			t.Errorf("%s: its region was measured %d times", name, r.Measured.Load())
		}
	}
}
