package pageheap

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// grown extends b to size bytes, and reports whether that went.
func (p *program) grown(t *testing.T, b *device.Block, size int) bool {
	p.growBlock(t, b, size/b.Len, true)
	return b.Len == size
}

// Blocks that had to move as they grew double side by side, none in the way of another:
// each has room in the middle of free memory, or addresses apart.
func TestRoomyBlocksGrowSideBySide(t *testing.T) {
	up := &pages{RangeBytes: 1 << 30}
	p := start(up, Options{})
	p.mustAlloc(t, 100)
	var blocks []device.Block
	for range 5 {
		b, err := p.allocRoomy(1024)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	moved := 0
	for n := 2048; n <= min(16<<20, upstream.MaxSize/roomyRange); n *= 2 {
		for i := range blocks {
			if b := &blocks[i]; !p.grown(t, b, n) {
				moved++
				p.free(*b)
				*b, _ = p.allocRoomy(n)
			}
			p.mustCheck(t, &up.Source)
		}
	}
	if moved > 7 {
		t.Errorf("%d of 70 doublings moved", moved)
	}
	p.freeAll(blocks)
	p.mustCheck(t, &up.Source)
}

// Addresses that are left out serve others, and cost no memory.
func TestAddressesApartServeOthers(t *testing.T) {
	up := &pages{RangeBytes: 1 << 30}
	p := start(up, Options{})
	below := p.mustAlloc(t, 16<<20)
	b, err := p.allocRoomy(64 << 10)
	if gap := b.Off - below.Off; err != nil || gap < 48<<20 || up.Bytes > 17<<20 {
		t.Fatalf("%d bytes apart, %d bytes upstream: %v", gap, up.Bytes, err)
	}
	if next := p.mustAlloc(t, 4<<20); next.Off > b.Off {
		t.Error("an ordinary block goes above")
	}
	p.mustCheck(t, &up.Source)
}

// Where there are no ranges only free memory has room.
func TestRoomyWithoutRanges(t *testing.T) {
	up := &pages{}
	p := start(&up.Source, Options{})
	if _, err := p.allocRoomy(1000); err == nil {
		t.Error("memory for growth from a segment")
	}
	p.mustAlloc(t, 1000)
	b, err := p.allocRoomy(1000)
	if err != nil || !p.grown(t, &b, 2000) {
		t.Errorf("no room in the middle of a segment: %v", err)
	}
	p.mustCheck(t, &up.Source)
}

// The first step of a roomy block ends within its range, however little is left of that.
func TestARoomyBlockFitsItsRange(t *testing.T) {
	for full := 32; full < 64; full++ {
		up := &pages{RangeBytes: 64 * page}
		p := start(up, Options{MaxHeld: 1})
		p.mustAlloc(t, full*page)
		p.allocRoomy(1)
		p.mustCheck(t, &up.Source)
	}
}

// Where there is no room for the first step of a growth, what is needed will do.
func TestGrowthWithoutRoomForAStep(t *testing.T) {
	up := &pages{Source: source{Capacity: 21 * page}}
	p := start(up, Options{})
	b := p.mustAlloc(t, 20*page)
	p.growBlock(t, &b, 1, true)
	p.Lock()
	i, _ := p.Locate(b, 0)
	extended := p.Extend(i, 21*page, true, func() bool { return true })
	p.Unlock()
	if !extended || up.Bytes != up.Capacity {
		t.Errorf("extended %v, %d bytes upstream of %d", extended, up.Bytes, up.Capacity)
	}
}

// The free memory behind a block that grows stays, as the block takes it.
func TestGrowthKeepsWhatItUses(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	b, behind := p.mustAlloc(t, 16*page), p.mustAlloc(t, 32*page)
	p.free(behind)
	if p.growBlock(t, &b, 4, true); b.Len != 64*page || up.Decommits != 0 {
		t.Errorf("%d bytes, and %d times pages went", b.Len, up.Decommits)
	}
	p.mustCheck(t, &up.Source)
}

// A few blocks that double in turns, and go, do not leave ever more free memory behind.
func TestGrowthUsesWhatIsFree(t *testing.T) {
	up := &pages{RangeBytes: 1 << 30, Ahead: 4 << 20}
	p := start(up, Options{})
	r := rand.New(rand.NewPCG(1, 2))
	var blocks [8]device.Block
	var most int64
	for range 10000 {
		b := &blocks[r.IntN(len(blocks))]
		switch {
		case b.Len == 0:
			*b = p.mustAlloc(t, 128<<10)
		case b.Len > 128<<10+r.IntN(384<<10):
			p.free(*b)
			*b = device.Block{}
		case !p.grown(t, b, 2*b.Len):
			c, err := p.allocRoomy(2 * b.Len)
			if err != nil {
				c = p.mustAlloc(t, 2*b.Len)
			}
			p.free(*b)
			*b = c
		}
		most = max(most, p.active)
		p.mustCheck(t, &up.Source)
	}
	if p.policy.high > most+most/2 {
		t.Errorf("%d bytes managed at most, for %d in use", p.policy.high, most)
	}
}

// A block that would at least double is not extended where it had better be copied: so much is free in one place, and as
// much was in use before. One that has to stay is.
func TestABlockHadBetterBeCopied(t *testing.T) {
	for _, c := range []struct {
		size int // of 8 pages
		stay bool
		had  int // pages in use before
		want bool
	}{
		{16, false, 16, false},
		{16, true, 16, true},
		{15, false, 16, true},
		{16, false, 15, true},
		{32, false, 32, false},
		{33, false, 33, true}, // no place for it
	} {
		p, up := onRange()
		if err := p.Prefill(40 * page); err != nil {
			t.Fatal(err)
		}
		place, b := p.mustAlloc(t, 32*page), p.mustAlloc(t, 8*page)
		p.free(place)
		p.peakLeft = int64(c.had * page)
		i, _ := p.Locate(b, 0)
		p.Lock()
		got := p.Extend(i, c.size*page, c.stay, func() bool { return true })
		p.Unlock()
		if got != c.want || (up.Top > 40*page) != got {
			t.Errorf("%+v: %t, memory up to %d", c, got, up.Top)
		}
		p.mustCheck(t, &up.Source)
	}
}

// If the owner refuses, all is as before.
func TestAnExtensionThatIsRefused(t *testing.T) {
	p, up := onRange()
	if err := p.Prefill(8 * page); err != nil {
		t.Fatal(err)
	}
	b := p.mustAlloc(t, page)
	i, _ := p.Locate(b, 0)
	p.Lock()
	got := p.Extend(i, 8*page, true, func() bool { return false })
	p.Unlock()
	if got || p.Len(i) != page || p.Size(i) != page {
		t.Errorf("extended: %t, to %d bytes", got, p.Len(i))
	}
	p.mustCheck(t, &up.Source)
}

// What lies in a cache of the owner is drained once if it may be the neighbour.
func TestTheNeighbourIsDrained(t *testing.T) {
	for _, cached := range []bool{true, false} {
		up := &pages{RangeBytes: mib}
		drains := 0
		var p *program
		var b, neighbour device.Block
		p = start(up, Options{BeforePeak: func() {
			if drains++; cached {
				p.freeLocked(neighbour)
			}
		}})
		if err := p.Prefill(4 * page); err != nil {
			t.Fatal(err)
		}
		b, neighbour = p.mustAlloc(t, page), p.mustAlloc(t, 2*page)
		p.mustAlloc(t, page)
		i, _ := p.Locate(b, 0)
		p.Lock()
		got := p.Extend(i, 3*page, true, func() bool { return true })
		p.Unlock()
		if got != cached || drains != 1 {
			t.Errorf("extended: %t, after %d drains", got, drains)
		}
		p.mustCheck(t, &up.Source)
	}
}

// A block at the top of a range that grows makes good for it, as any growth does, also where little is free.
func TestPagesGoBeforeABlockGrowsPastThePeak(t *testing.T) {
	p, up, _ := holed(t, 1, firstStep, 100*page)
	i := p.top(0)
	p.Lock()
	got := p.Extend(i, 17*page, true, func() bool { return true })
	p.Unlock()
	if !got || up.Decommits != 1 {
		t.Errorf("extended: %t; %d extents went", got, up.Decommits)
	}
	p.mustCheck(t, &up.Source)
}
