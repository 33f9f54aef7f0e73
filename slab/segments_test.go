package slab

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestWhollyFreeSegmentsGoBackWhenAsked(t *testing.T) {
	up := &fake{}
	b := NewBestfit(up, Config{MissTarget: 1})
	x, y := mustAlloc(t, b, 1<<20), mustAlloc(t, b, 8<<20)
	small := mustAlloc(t, b, 100)
	b.Free(x)
	b.Free(y)
	b.FreeHeld()
	if up.allocs-up.frees != 1 || b.Usage().ManagedBytes() != up.bytes {
		t.Errorf("%d segments of %d bytes left for one block", up.allocs-up.frees, up.bytes)
	}
	b.Free(small)
	if b.FreeHeld(); up.bytes != 0 {
		t.Errorf("%d bytes left", up.bytes)
	}
}

// Before the pool passes its old peak, segments that are too small go back.
func TestSegmentsGoBackBeforeANewPeak(t *testing.T) {
	up := &fake{}
	b := NewBestfit(up, Config{MissTarget: 1})
	var live []device.Block
	for range 8 {
		live = append(live, mustAlloc(t, b, 1<<20))
	}
	for _, blk := range live {
		b.Free(blk)
	}
	was := up.bytes
	mustAlloc(t, b, int(was)-page)
	if up.bytes > was+page || up.frees == 0 {
		t.Errorf("%d bytes after %d: %d frees", up.bytes, was, up.frees)
	}
}

// The ladder of out of memory: want less, give back what is held, fail.
func TestTheLadderOfOutOfMemory(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		up := &pages{fake: fake{capacity: 10 * page}}
		var a Allocator = up
		if fixed {
			a = &up.fake
		}
		b := NewBestfit(a, Config{})
		one := mustAlloc(t, b, 6*page) // wants 12 pages as a segment
		two := mustAlloc(t, b, 2*page)
		b.Free(one)
		if up.bytes > 10*page {
			t.Fatalf("%d bytes", up.bytes)
		}
		want := 7 * page // only once the six are given back
		if fixed {
			want = 6 * page // as two's segment took what was left
		}
		three := mustAlloc(t, b, want)
		before := b.Usage()
		if _, err := b.Alloc(4 * page); !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatal(err)
		}
		u := b.Usage()
		if u.ActiveBlocks != before.ActiveBlocks || u.ActiveBytes != before.ActiveBytes || u.RoundingBytes != before.RoundingBytes || u.ManagedBytes() != up.bytes {
			t.Errorf("usage %+v, before %+v", u, before)
		}
		mustCheck(t, &b.arena, up)
		b.Free(two)
		b.Free(three)
		mustAlloc(t, b, 10*page)
		mustCheck(t, &b.arena, up)
	}
}

// What is held after a Free is MaxHeld, and parts of pages beside active blocks.
func TestArenaHoldsAtMostMaxHeld(t *testing.T) {
	for _, c := range []Config{{MaxHeld: 20 * page}, {MaxHeld: -1}} {
		up := &pages{}
		b := NewBestfit(up, c)
		live := fill(t, b, 200)
		for i := 0; i < 200; i += 2 {
			b.Free(live[i])
			if n := b.Usage().HeldBytes; n > max(0, c.MaxHeld) {
				t.Fatalf("%d bytes held of %d", n, c.MaxHeld)
			}
		}
		mustCheck(t, &b.arena, up)
	}
}

func TestSegmentsHoldAtMostMaxHeldBesideActiveBlocks(t *testing.T) {
	up := &fake{}
	b := NewBestfit(up, Config{MaxHeld: 4 << 20, MissTarget: 1})
	var live []device.Block
	for range 20 {
		live = append(live, mustAlloc(t, b, 1<<20))
	}
	for _, blk := range live {
		b.Free(blk)
	}
	if u := b.Usage(); u.HeldBytes > 4<<20 || u.ManagedBytes() != up.bytes {
		t.Errorf("usage %+v", u)
	}
}

func TestRegionsLargerThanAskedAreUnusable(t *testing.T) {
	up := fakeDevice{fake: &fake{round: 1 << 20}}
	b := NewBestfit(up, Config{})
	blk := mustAlloc(t, b, 100)
	u := b.Usage()
	if u.UnusableBytes == 0 || u.ManagedBytes() != up.fake.bytes || u.ManagedBytes() != 1<<20 {
		t.Errorf("usage %+v of %d bytes", u, up.fake.bytes)
	}
	b.Free(blk)
	b.FreeHeld()
	if u := b.Usage(); u != (Usage{}) {
		t.Errorf("usage %+v of nothing", u)
	}
}
