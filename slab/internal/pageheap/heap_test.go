package pageheap

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A random walk over everything that a heap can be asked to do.
func TestHeapHoldsTogetherAfterEveryStep(t *testing.T) {
	for name, c := range map[string]Options{
		"plain": {}, "misses": {MissTarget: 0.5}, "held": {MaxHeld: 40_000}, "nothing": {MaxHeld: -1}, "coarse": {Align: 512},
	} {
		for _, ranges := range []bool{true, false} {
			for seed := range uint64(4) {
				up := &pages{Source: source{Capacity: 900_000}, RangeBytes: 256 << 10}
				p := start(on(up, !ranges), c)
				walk(t, rand.New(rand.NewPCG(seed, 3)), p, up, seed%2 == 0)
				if t.Failed() {
					t.Fatal(name, ranges, seed)
				}
			}
		}
	}
}

func walk(t *testing.T, r *rand.Rand, p *program, up *pages, lossy bool) {
	var live []device.Block
	for range 1500 {
		switch k := r.IntN(100); {
		case k < 10 && len(live) > 0:
			p.growBlock(t, &live[r.IntN(len(live))], 1+r.IntN(3), r.IntN(8) != 0)
		case k < 48:
			alloc := p.alloc
			if k < 15 {
				alloc = p.allocRoomy
			}
			if blk, err := alloc(1 + r.IntN(1<<r.IntN(17))); err == nil {
				live = append(live, blk)
			} else if !errors.Is(err, device.ErrOutOfMemory) {
				t.Fatal(err)
			}
		case k < 49 && len(live) > 0 && lossy:
			p.giveUpBlock(takeAt(&live, r.IntN(len(live))))
		case k < 96 && len(live) > 0:
			p.free(takeAt(&live, r.IntN(len(live))))
		case k < 97:
			p.FreeHeld()
		case k < 99:
			before := p.managed
			if n := p.Trim(r.IntN(3)); n != before-p.managed {
				t.Fatalf("Trim says %d, and %d bytes went", n, before-p.managed)
			}
		}
		p.mustCheck(t, &up.Source)
	}
	p.freeAll(live)
	p.StopHolding()
	p.mustCheck(t, &up.Source)
	c := p.Counts()
	if up.Bytes != 0 || c.FreeBytes != 0 || c.Quarantined != 0 || !lossy && up.Open != 0 {
		t.Errorf("%d bytes and %d ranges left, %+v", up.Bytes, up.Open, c)
	}
}

// fill gets n blocks of a page each, with no free memory left between.
func fill(t *testing.T, p *program, n int) (live []device.Block) {
	for range n {
		live = append(live, p.mustAlloc(t, page))
	}
	return live
}

func TestFreePagesWithinARangeAreGivenBackAndTakenAgain(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	live := fill(t, p, 10)
	for i := 2; i < 5; i++ {
		p.free(live[i])
	}
	p.FreeHeld()
	p.mustCheck(t, &up.Source)
	if up.Bytes != 7*page || p.index[decommitted].bytes != 3*page || p.managed != 7*page {
		t.Fatalf("%d bytes upstream, %d decommitted", up.Bytes, p.index[decommitted].bytes)
	}
	again := p.mustAlloc(t, 2*page)
	if again.Off != live[2].Off {
		t.Errorf("decommitted from %d, but the block is at %d", live[2].Off, again.Off)
	}
	p.mustCheck(t, &up.Source)
}

func TestDecommittedPagesServeWhatTheFreeMemoryBeforeThemBegins(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	front := p.mustAlloc(t, page/2)
	middle := p.mustAlloc(t, page/2+2*page)
	p.mustAlloc(t, page)
	p.FreeHeld()
	p.free(middle)
	p.FreeHeld()
	if got := p.mustAlloc(t, page); got.Off != front.Off+page/2 {
		t.Errorf("block at %d", got.Off)
	}
	p.mustCheck(t, &up.Source)
}

func TestTheEndOfARangeGoesDownWithItsFreeTop(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	live := fill(t, p, 10)
	p.freeAll(live[4:])
	p.FreeHeld()
	p.mustCheck(t, &up.Source)
	if e := p.at(p.segs[p.current].end).off; e != 4*page || p.index[decommitted].count != 0 {
		t.Errorf("the end is at %d", e)
	}
}

// What is free at the top of a range counts for the next block there.
func TestAFreeTopIsUsed(t *testing.T) {
	up := &pages{}
	p := start(up, Options{MaxHeld: 2 * page})
	fill(t, p, 16)
	p.free(p.mustAlloc(t, 2*page))
	p.mustAlloc(t, 8*page)
	if most := int64(26 * page); up.Bytes > most {
		t.Errorf("%d bytes upstream, no more than %d are of use", up.Bytes, most)
	}
	p.mustCheck(t, &up.Source)
}

func TestFreeHeldClosesAnEmptyRange(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	p.free(p.mustAlloc(t, 100))
	if up.Open != 1 {
		t.Error("the range was closed before it was asked for")
	}
	p.FreeHeld()
	if up.Open != 0 || up.Bytes != 0 || p.current != -1 {
		t.Errorf("%d ranges of %d bytes", up.Open, up.Bytes)
	}
	p.mustAlloc(t, 100)
	p.mustCheck(t, &up.Source)
}

// A program that is trimmed again and again has what it needs in the same
// addresses: its range does not grow for ever.
func TestARangeDoesNotGrowUnderChurnAndFreeHeld(t *testing.T) {
	up := &pages{RangeBytes: 64 << 20}
	p := start(up, Options{})
	pin := fill(t, p, 1)
	r := rand.New(rand.NewPCG(4, 4))
	var live []device.Block
	after := 0
	for round := range 400 {
		for range 40 {
			live = append(live, p.mustAlloc(t, 1+r.IntN(8*page)))
		}
		r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
		for len(live) > 60 {
			p.free(live[0])
			live = live[1:]
		}
		p.FreeHeld()
		if round == 100 {
			after = up.Top
		}
	}
	p.mustCheck(t, &up.Source)
	if up.Top > after*3/2 || up.Opened != 1 {
		t.Errorf("the range grew from %d to %d bytes for %d live", after, up.Top, 100*8*page)
	}
	p.free(pin[0])
}

func TestTrimTakesWhatWasFreeForSoManyEpochs(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	live := fill(t, p, 12)
	p.FreeHeld()
	p.free(live[1])
	for epoch := range 3 {
		if n := p.Trim(3); n != 0 {
			t.Errorf("epoch %d: %d bytes went", epoch, n)
		}
	}
	p.free(live[5])
	if n := p.Trim(3); n != page || p.index[decommitted].bytes != page {
		t.Errorf("%d bytes went, one page was idle for three epochs", n)
	}
	if n := p.Trim(0); n < page {
		t.Errorf("Trim(0): %d bytes", n)
	}
	if p.index[free].bytes != 0 {
		t.Errorf("%d bytes are still held", p.index[free].bytes)
	}
	p.mustCheck(t, &up.Source)
}

// Free pages go before the heap passes its old peak, where they make good for half of what
// is needed.
func TestFreePagesGoBeforeThePeak(t *testing.T) {
	peak := func(hole int) int64 {
		up := &pages{RangeBytes: 64 << 20, Ahead: 64 << 20}
		p := start(up, Options{})
		live := fill(t, p, 64)
		for i := 0; i < 48; i += 2 * hole {
			p.freeAll(live[i : i+hole])
		}
		p.mustAlloc(t, 8*page) // more than any hole has
		p.mustCheck(t, &up.Source)
		return p.policy.high / page
	}
	for hole, want := range map[int]int64{6: 64, 2: 72} { // pages
		if got := peak(hole); got != want {
			t.Errorf("a peak of %d pages with holes of %d, want %d", got, hole, want)
		}
	}
}

// A range that has decommitted pages in the middle is closed once the rest is free, and forgotten.
func TestARangeWithDecommittedPagesIsClosed(t *testing.T) {
	p, up := onRange()
	live := fill(t, p, 9)
	p.freeAll(live[3:6])
	p.FreeHeld()
	p.freeAll(live[:3])
	p.freeAll(live[6:])
	if p.FreeHeld(); up.Open != 0 || p.index[decommitted].count != 0 {
		t.Errorf("%d ranges are open, %d extents decommitted", up.Open, p.index[decommitted].count)
	}
	p.mustAlloc(t, page)
	p.mustCheck(t, &up.Source)
}
