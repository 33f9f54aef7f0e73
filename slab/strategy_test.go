package slab

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/freelist"
)

// What NewStrategy refuses it refuses before it asks the upstream for anything.
func TestNewStrategyRefusesWhatCannotBe(t *testing.T) {
	for name, c := range map[string]Config{
		"": {}, "nonesuch": {}, "bitlog": {Bits: 17}, "exact": {MissTarget: 0.1}, "slab": {Align: 24}, "direct": {MaxHeld: 1},
	} {
		var up source
		var e *ConfigError
		if s, err := NewStrategy(name, &up, c); !errors.As(err, &e) || s != nil || up.Calls != 0 {
			t.Errorf("%q of %+v: %v, %v, %d calls", name, c, s, err, up.Calls)
		}
	}
	if s, err := NewStrategy("exact", nil, Config{}); !errors.Is(err, ErrUpstream) || s != nil {
		t.Errorf("without an upstream: %v, %v", s, err)
	}
}

func TestFreelistOptionsSpellTheBoundsOfAConfig(t *testing.T) {
	none := freelist.Options{MaxBytes: math.MaxInt64, MaxBlocks: math.MaxInt, MaxBlockBytes: math.MaxInt64}
	for _, c := range []struct {
		config Config
		want   func(*freelist.Options)
	}{
		{Config{}, func(*freelist.Options) {}},
		{Config{MaxHeld: 7, MaxHeldBlocks: 8, MaxBlockBytes: 9}, func(o *freelist.Options) { o.MaxBytes, o.MaxBlocks, o.MaxBlockBytes = 7, 8, 9 }},
		{Config{MaxHeld: 1, MaxHeldBlocks: 1, MaxBlockBytes: 1}, func(o *freelist.Options) { o.MaxBytes, o.MaxBlocks, o.MaxBlockBytes = 1, 1, 1 }},
		{Config{MaxHeld: -1}, func(o *freelist.Options) { o.MaxBytes = 0 }},
		{Config{MaxHeldBlocks: -1}, func(o *freelist.Options) { o.MaxBlocks = 0 }},
	} {
		want := none
		if c.want(&want); !reflect.DeepEqual(freelistOptions(c.config, front{}), want) {
			t.Errorf("%+v: %+v, want %+v", c.config, freelistOptions(c.config, front{}), want)
		}
	}
}

// The upstream is not asked for less than nothing.
func TestNegativeSizesAreRefused(t *testing.T) {
	up := &source{}
	refusing := []Allocator{NewLimit(up, 100)}
	for _, name := range Strategies() {
		refusing = append(refusing, strategyOn(name, up, Config{}))
	}
	for _, a := range refusing {
		for _, size := range []int{-1, math.MinInt} {
			if _, err := a.Alloc(size); !errors.Is(err, ErrSize) || up.Calls != 0 {
				t.Errorf("%T: Alloc(%d): %v, %d calls upstream", a, size, err, up.Calls)
			}
		}
	}
}

func TestAHitAllocatesNothing(t *testing.T) {
	names := Strategies()[1:]
	if invariants.Enabled {
		names = names[:2] // the others check themselves, and allocate for it
	}
	for _, name := range names {
		s := holderOn(name, &source{}, Config{})
		mustAlloc(t, s, 1000) // keeps its slab
		if n := check.Allocs(1000, func() { s.Free(mustAlloc(t, s, 1000)) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A small block goes back with the length it was handed out with, or not at all: Usage
// counts by it.
func TestFreeOfASmallBlockWantsItsLength(t *testing.T) {
	for _, name := range []string{"sizeclass", "slab"} {
		a := holderOn(name, openDevice(t, "heap"), Config{})
		b := mustAlloc(t, a, 10)
		before := a.Usage()
		for _, n := range []int{1, 9, 11, 16} {
			wrong := b
			wrong.Len = n
			if !doesPanic(func() { a.Free(wrong) }) {
				t.Errorf("%s: Free of %d bytes, of a block of 10, did not panic", name, n)
			}
		}
		if now := a.Usage(); now != before {
			t.Errorf("%s: %+v, before %+v", name, now, before)
		}
		a.Free(b)
	}
}

// So does a whole block, which others look up by its place.
func TestFreeOfAWholeBlockWantsItsLength(t *testing.T) {
	for _, name := range []string{"exact", "bitlog", "sizeclass"} {
		a := holderOn(name, &source{}, Config{})
		b := mustAlloc(t, a, 100_000)
		wrong := b
		wrong.Len--
		if !doesPanic(func() { a.Free(wrong) }) {
			t.Errorf("%s: Free of %d bytes, of a block of %d, did not panic", name, wrong.Len, b.Len)
		}
		a.Free(b)
	}
}

// No strategy says that there is no room while a free block of its own fits:
// sizes that were out before are there again, whichever order they come in.
func TestFreeBlocksServeWhereTheUpstreamIsFull(t *testing.T) {
	eachOn([]string{"sizeclass", "bestfit", "slab"}, func(name string, ranges bool) {
		s := holderOn(name, onRanges(&pages{Source: source{Capacity: 64 * page}}, ranges), Config{})
		var live []device.Block
		for b, err := s.Alloc(600); err == nil; b, err = s.Alloc(600) { // full to the brim
			live = append(live, b)
		}
		for i := 0; i < len(live); i += 2 {
			s.Free(live[i])
		}
		for n := 600; n > 0; n -= 50 { // each has one of 600 at least
			b, err := s.Alloc(n)
			if err != nil {
				t.Fatalf("%s, ranges %v: %d bytes: %v with %+v", name, ranges, n, err, s.Usage())
			}
			s.Free(b)
		}
	})
}

// A small block that is lost keeps no slab of its strategy's when the rest of it is free: not in
// FreeHeld, nor in Trim(0), which is the same.
func TestLostBlocksKeepNoSlabs(t *testing.T) {
	for _, name := range []string{"sizeclass", "slab"} {
		for how, giveBack := range map[string]func(s testHolder){
			"FreeHeld": func(s testHolder) { s.FreeHeld() }, "Trim": func(s testHolder) { s.(Trimmer).Trim(0) },
		} {
			up := &source{}
			s := holderOn(name, upstreamtest.Device{Source: up}, Config{})
			var live []device.Block
			for range 1000 {
				live = append(live, mustAlloc(t, s, 256))
			}
			for i, b := range live {
				if i%8 != 0 {
					s.Free(b)
				} else if !s.(quarantiner).Quarantine(b, 0) {
					t.Fatalf("%s: a block cannot be lost", name)
				}
			}
			if giveBack(s); up.Bytes > 64<<10 || s.Usage().ActiveBlocks != 0 {
				t.Errorf("%s, %s: %d bytes are left, %+v", name, how, up.Bytes, s.Usage())
			}
		}
	}
}

// After StopHolding it keeps none either, whichever goes last: what is freed or what is lost.
func TestLostBlocksKeepNothingOfWhoHoldsNothing(t *testing.T) {
	for _, name := range []string{"sizeclass", "slab"} {
		for first := range 2 {
			up := &source{}
			s := holderOn(name, upstreamtest.Device{Source: up}, Config{})
			var live []device.Block
			for range 1000 {
				live = append(live, mustAlloc(t, s, 256))
			}
			s.StopHolding()
			for k := range 2 {
				for i, b := range live {
					if lost := (k+first)%2 == 0; lost != (i%8 == 0) {
						continue
					} else if !lost {
						s.Free(b)
					} else if !s.(quarantiner).Quarantine(b, 0) {
						t.Fatalf("%s: a block cannot be lost", name)
					}
				}
			}
			if up.Bytes != 0 || s.Usage().ManagedBytes() != 0 {
				t.Errorf("%s, %d: %d bytes are left, %+v", name, first, up.Bytes, s.Usage())
			}
		}
	}
}

// A whole block whose pages the upstream does not give up is out as before: it counts, and can
// be freed.
func TestQuarantineThatIsRefusedChangesNothing(t *testing.T) {
	for _, name := range []string{"direct", "exact", "bitlog", "sizeclass"} {
		up := &source{}
		s := holderOn(name, upstreamtest.Device{Source: up}, Config{})
		b := mustAlloc(t, s, 100_000)
		upstreamtest.RegionOf(b).Refuse = errors.New("locked")
		before, bytes := s.Usage(), up.Bytes
		if s.(quarantiner).Quarantine(b, 0) {
			t.Errorf("%s: a refused quarantine counts as done", name)
		}
		if now := s.Usage(); now != before || up.Bytes != bytes {
			t.Errorf("%s: %+v, before %+v", name, now, before)
		}
		s.Free(b)
		if s.FreeHeld(); up.Bytes != 0 {
			t.Errorf("%s: %d bytes are left", name, up.Bytes)
		}
	}
}

// Where there is no room for a slab, room for the block will do.
func TestAScrapServesASmallBlock(t *testing.T) {
	s := holderOn("slab", &source{Capacity: 64 << 10}, Config{})
	mustAlloc(t, s, 64<<10-256)
	mustAlloc(t, s, 100)
}

func eachNumbered(t *testing.T, f func(t *testing.T, up *pages, s numbered)) {
	for _, name := range []string{"bestfit", "slab"} {
		t.Run(name, func(t *testing.T) {
			up := &pages{}
			f(t, up, strategyOn(name, up, Config{}).(numbered))
		})
	}
}

type numberedBlock struct {
	b      device.Block
	extent int32
}

// Blocks come back by number and by address, whichever way the others do.
func TestBlocksComeBackByNumber(t *testing.T) {
	eachNumbered(t, func(t *testing.T, up *pages, s numbered) {
		r := rand.New(rand.NewPCG(3, 3))
		var live []numberedBlock
		var bytes int64
		for step := range 6000 {
			if n := len(live); step > 4000 && n > 0 || n > 0 && r.IntN(2) == 0 {
				x := takeAt(&live, r.IntN(n))
				bytes -= int64(x.b.Len)
				s.FreeExtent(x.b, x.extent*int32(r.IntN(2)))
			} else {
				b, extent, err := s.AllocExtent(1 + r.IntN(1<<r.IntN(16)))
				if err != nil || extent <= 0 {
					t.Fatal(extent, err)
				}
				live = append(live, numberedBlock{b, extent})
				bytes += int64(b.Len)
			}
			if u := s.(UsageReporter).Usage(); u.ActiveBytes != bytes || u.ManagedBytes() != up.Bytes || u.RoundingBytes < 0 {
				t.Fatalf("%+v, %d bytes active, %d upstream", u, bytes, up.Bytes)
			}
		}
	})
}

// A number that is not the block's is as wrong as an address that is not, and
// the strategy stays intact.
func TestFreeExtentPanicsWhereTheExtentHasNoSuchBlock(t *testing.T) {
	eachNumbered(t, func(t *testing.T, up *pages, s numbered) {
		var live []numberedBlock
		for _, size := range []int{100, 100, 3000, 50_000} {
			b, extent, err := s.AllocExtent(size)
			if err != nil {
				t.Fatal(err)
			}
			live = append(live, numberedBlock{b, extent})
		}
		x, gone := live[2], live[3]
		s.FreeExtent(gone.b, gone.extent)
		before := s.(UsageReporter).Usage()
		inside := x.b
		inside.Off, inside.Len = x.b.Off+16, 100
		for _, wrong := range []numberedBlock{
			{x.b, live[0].extent}, {x.b, gone.extent}, {x.b, 1 << 20}, {x.b, -1}, {gone.b, gone.extent}, {gone.b, 0}, {inside, x.extent}, {upstreamtest.Block(3000), x.extent},
		} {
			if !doesPanic(func() { s.FreeExtent(wrong.b, wrong.extent) }) {
				t.Errorf("%+v of extent %d was free", wrong.b, wrong.extent)
			}
		}
		if now := s.(UsageReporter).Usage(); now != before {
			t.Errorf("%+v, before %+v", now, before)
		}
		for _, l := range live[:3] {
			s.FreeExtent(l.b, l.extent)
		}
		if u := s.(UsageReporter).Usage(); u.ActiveBlocks != 0 || u.RoundingBytes != 0 {
			t.Errorf("%+v", u)
		}
	})
}

func ExampleNewStrategy_nested() {
	d, _ := device.Open("virtual")
	lower, _ := NewStrategy("slab", d, Config{})
	upper, _ := NewStrategy("exact", lower, Config{})
	b, _ := upper.Alloc(100)
	upper.Free(b)
	fmt.Println(upper.(UsageReporter).Usage().HeldBytes, lower.(UsageReporter).Usage().ActiveBytes)
	// Output: 100 100
}

// A number of epochs that 32 bits do not hold is more than have passed, not none.
func TestTrimOfManyEpochsGivesNothingBack(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no int is so large")
	}
	for _, s := range keepers() {
		for _, idle := range []int{math.MaxInt>>31 + 1, math.MaxInt} {
			up := &pages{}
			a := holderOn(s, up, Config{})
			a.Free(mustAlloc(t, a, 100_000))
			if n := a.Trim(idle); n != 0 || a.Usage().HeldBytes == 0 {
				t.Errorf("%s: Trim(%d) gave %d bytes back", s, idle, n)
			}
		}
	}
}
