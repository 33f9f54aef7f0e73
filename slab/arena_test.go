package slab

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// mustCheck compares an arena with what its upstream has given.
func mustCheck(t testing.TB, a *arena, up *pages) {
	t.Helper()
	if err := a.check(); err != nil {
		t.Fatal(err)
	}
	if a.managed != up.bytes {
		t.Fatalf("%d bytes managed, upstream gave %d", a.managed, up.bytes)
	}
}

// A random walk over everything that an arena can be asked to do.
func TestArenaHoldsTogetherAfterEveryStep(t *testing.T) {
	for name, c := range map[string]Config{
		"plain": {}, "decommit": {Decommit: true, MissTarget: 0.5}, "held": {MaxHeld: 40_000}, "nothing": {MaxHeld: -1}, "coarse": {Align: 512},
	} {
		for _, ranges := range []bool{true, false} {
			for seed := range uint64(4) {
				up := &pages{fake: fake{capacity: 900_000}, rangeBytes: 256 << 10}
				var a Allocator = up
				if !ranges {
					a = &up.fake
				}
				b := NewBestfit(a, c)
				walk(t, rand.New(rand.NewPCG(seed, 3)), b, up)
				if t.Failed() {
					t.Fatal(name, ranges, seed)
				}
			}
		}
	}
}

func walk(t *testing.T, r *rand.Rand, b *Bestfit, up *pages) {
	var live []device.Block
	for range 1500 {
		switch k := r.IntN(100); {
		case k < 48:
			if blk, err := b.Alloc(1 + r.IntN(1<<r.IntN(17))); err == nil {
				live = append(live, blk)
			} else if !errors.Is(err, device.ErrOutOfMemory) {
				t.Fatal(err)
			}
		case k < 96 && len(live) > 0:
			i := r.IntN(len(live))
			b.Free(live[i])
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		case k < 97:
			b.FreeHeld()
		case k < 99:
			b.Trim(r.IntN(3))
		}
		mustCheck(t, &b.arena, up)
	}
	for _, blk := range live {
		b.Free(blk)
	}
	b.StopHolding()
	mustCheck(t, &b.arena, up)
	if up.bytes != 0 || up.open != 0 {
		t.Errorf("%d bytes and %d ranges left", up.bytes, up.open)
	}
}

// fill gets n blocks of a page each, with no free memory left between.
func fill(t *testing.T, b *Bestfit, n int) (live []device.Block) {
	for range n {
		live = append(live, mustAlloc(t, b, page))
	}
	return live
}

func TestFreePagesWithinARangeAreGivenBackAndTakenAgain(t *testing.T) {
	up := &pages{}
	b := NewBestfit(up, Config{})
	live := fill(t, b, 10)
	for i := 2; i < 5; i++ {
		b.Free(live[i])
	}
	b.FreeHeld()
	mustCheck(t, &b.arena, up)
	if up.bytes != 7*page || b.index[hole].bytes != 3*page || b.Usage().ManagedBytes() != 7*page {
		t.Fatalf("%d bytes upstream, holes of %d", up.bytes, b.index[hole].bytes)
	}
	again := mustAlloc(t, b, 2*page)
	if again.Off != live[2].Off {
		t.Errorf("a hole at %d, but the block is at %d", live[2].Off, again.Off)
	}
	mustCheck(t, &b.arena, up)
}

func TestAHoleServesWhatTheFreeMemoryBeforeItBegins(t *testing.T) {
	up := &pages{}
	b := NewBestfit(up, Config{})
	front := mustAlloc(t, b, page/2)
	middle := mustAlloc(t, b, page/2+2*page)
	mustAlloc(t, b, page)
	b.FreeHeld()
	b.Free(middle)
	b.FreeHeld()
	if got := mustAlloc(t, b, page); got.Off != front.Off+page/2 {
		t.Errorf("block at %d", got.Off)
	}
	mustCheck(t, &b.arena, up)
}

func TestTheEdgeOfARangeGoesDownWithItsFreeTop(t *testing.T) {
	up := &pages{}
	b := NewBestfit(up, Config{})
	live := fill(t, b, 10)
	for _, blk := range live[4:] {
		b.Free(blk)
	}
	b.FreeHeld()
	mustCheck(t, &b.arena, up)
	if e := b.at(b.segs[b.current].edge).off; e != 4*page || b.index[hole].count != 0 {
		t.Errorf("the edge is at %d", e)
	}
}

func TestFreeHeldClosesAnEmptyRange(t *testing.T) {
	up := &pages{}
	b := NewBestfit(up, Config{})
	b.Free(mustAlloc(t, b, 100))
	if up.open != 1 {
		t.Error("the range was closed before it was asked for")
	}
	b.FreeHeld()
	if up.open != 0 || up.bytes != 0 || b.current != -1 {
		t.Errorf("%d ranges of %d bytes", up.open, up.bytes)
	}
	mustAlloc(t, b, 100)
	mustCheck(t, &b.arena, up)
}

func TestAFullRangeOpensAnother(t *testing.T) {
	up := &pages{rangeBytes: 16 * page}
	b := NewBestfit(up, Config{})
	live := fill(t, b, 50)
	if up.open < 4 {
		t.Errorf("%d ranges", up.open)
	}
	mustCheck(t, &b.arena, up)
	for _, blk := range live {
		b.Free(blk)
	}
	b.FreeHeld()
	if up.open != 0 || up.bytes != 0 {
		t.Errorf("%d ranges of %d bytes", up.open, up.bytes)
	}
}

// Without new addresses, holes of the old ones still serve.
func TestHolesServeWhereNoRangeCanBeOpened(t *testing.T) {
	up := &pages{rangeBytes: 16 * page, ranges: 1}
	b := NewBestfit(up, Config{})
	var live []device.Block
	for {
		blk, err := b.Alloc(page)
		if err != nil {
			if !errors.Is(err, device.ErrOutOfMemory) {
				t.Fatal(err)
			}
			break
		}
		live = append(live, blk)
	}
	b.Free(live[3])
	b.Free(live[4])
	b.FreeHeld()
	if b.index[hole].bytes != 2*page {
		t.Fatalf("holes of %d bytes", b.index[hole].bytes)
	}
	if blk, err := b.Alloc(2 * page); err != nil || blk.Off != live[3].Off {
		t.Errorf("block at %d, %v", blk.Off, err)
	}
	mustCheck(t, &b.arena, up)
}

// A program that is trimmed again and again has what it needs in the same
// addresses: its range does not grow for ever.
func TestARangeDoesNotGrowUnderChurnAndFreeHeld(t *testing.T) {
	up := &pages{rangeBytes: 64 << 20}
	b := NewBestfit(up, Config{})
	pin := fill(t, b, 1)
	r := rand.New(rand.NewPCG(4, 4))
	var live []device.Block
	after := 0
	for round := range 400 {
		for range 40 {
			live = append(live, mustAlloc(t, b, 1+r.IntN(8*page)))
		}
		r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
		for len(live) > 60 {
			b.Free(live[0])
			live = live[1:]
		}
		b.FreeHeld()
		if round == 100 {
			after = up.top
		}
	}
	mustCheck(t, &b.arena, up)
	if up.top > after*3/2 || up.opened != 1 {
		t.Errorf("the range grew from %d to %d bytes for %d live", after, up.top, 100*8*page)
	}
	b.Free(pin[0])
}

func TestTrimTakesWhatWasFreeForSoManyEpochs(t *testing.T) {
	up := &pages{}
	b := NewBestfit(up, Config{})
	live := fill(t, b, 12)
	b.FreeHeld()
	b.Free(live[1])
	for epoch := range 3 {
		if n := b.Trim(3); n != 0 {
			t.Errorf("epoch %d: %d bytes went", epoch, n)
		}
	}
	b.Free(live[5])
	if n := b.Trim(3); n != page || b.index[hole].bytes != page {
		t.Errorf("%d bytes went, one page was idle for three epochs", n)
	}
	if n := b.Trim(0); n < page {
		t.Errorf("Trim(0): %d bytes", n)
	}
	if b.index[free].bytes != 0 {
		t.Errorf("%d bytes are still held", b.index[free].bytes)
	}
	mustCheck(t, &b.arena, up)
}

// With Decommit, free pages go before the pool passes its old peak.
func TestDecommitKeepsThePeakDown(t *testing.T) {
	peak := func(c Config) int64 {
		up := &pages{rangeBytes: 64 << 20}
		b := NewBestfit(up, c)
		live := fill(t, b, 200)
		for i := 0; i < 200; i += 2 {
			b.Free(live[i])
			live[i] = mustAlloc(t, b, page/2)
		}
		for i := 1; i < 200; i += 2 {
			b.Free(live[i])
		}
		for range 40 {
			mustAlloc(t, b, 2*page)
		}
		mustCheck(t, &b.arena, up)
		return b.high
	}
	if with, without := peak(Config{Decommit: true}), peak(Config{}); with > without {
		t.Errorf("peak of %d bytes, without %d", with, without)
	}
}
