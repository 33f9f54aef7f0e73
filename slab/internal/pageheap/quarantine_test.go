package pageheap

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// Blocks that are smaller than a page go back, too, once a page has no others.
func TestQuarantineMerges(t *testing.T) {
	for name, segments := range map[string]bool{"range": false, "segments": true} {
		up := &pages{}
		p := start(on(up, segments), Options{})
		var live []int32
		for range 64 {
			b := p.mustAlloc(t, page/4)
			i, _ := p.Locate(b, 0)
			live = append(live, i)
		}
		before, first := p.managed, p.segs[0].block.Region
		for k := range live { // 0, 7, 14, ...: in an order that merges on both sides
			p.Quarantine(live[k*7%64])
			p.mustCheck(t, &up.Source)
		}
		c := p.Counts()
		if back := before - p.managed; back != 16*page || c.Quarantined != 0 {
			t.Errorf("%s: %d of %d bytes went back, %d did not", name, back, 16*page, c.Quarantined)
		}
		for range 64 {
			if b := p.mustAlloc(t, page/4); b.Off < 16*page && b.Region == first {
				t.Errorf("%s: handed out again at %d", name, b.Off)
			}
		}
		p.mustCheck(t, &up.Source)
	}
}

// A heap whose blocks are all lost needs next to nothing for them, whatever they are.
func TestQuarantineLeavesNoRecords(t *testing.T) {
	for name, segments := range map[string]bool{"range": false, "segments": true} {
		for size, blocks := range map[int]int{100_000: 3000, 3 * leafBytes: 50} {
			up := &pages{RangeBytes: 64 << 20}
			p := start(on(up, segments), Options{})
			for range blocks {
				p.giveUpBlock(p.mustAlloc(t, size))
			}
			p.mustCheck(t, &up.Source)
			leaves := 0
			for _, s := range p.segs {
				for _, l := range s.pages {
					if l != nil {
						leaves++
					}
				}
			}
			if n := p.alive(); n > 19 || leaves > 6 || len(p.segs) > 6 {
				t.Errorf("%s of %d bytes: %d records, %d leaves, %d segments", name, size, n, leaves, len(p.segs))
			}
		}
	}
}

// Pages that cannot go back stay in the budget, and are handed out to nobody.
func TestQuarantineThatCannotGoBack(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	b := p.mustAlloc(t, 4*page)
	up.Fail = errors.New("locked")
	p.giveUpBlock(b)
	up.Fail = nil
	p.mustCheck(t, &up.Source)
	if c := p.Counts(); c.Quarantined != 4*page || up.Bytes < 4*page {
		t.Errorf("%+v, %d upstream", c, up.Bytes)
	}
	p.StopHolding()
	if up.Bytes != 4*page || up.Open != 1 {
		t.Errorf("%d bytes, %d ranges", up.Bytes, up.Open)
	}
}

// Before a new peak wholly free segments go back. One with extents in quarantine is not: its
// rest stays of use, as it could be lost and not go.
func TestANewPeakLosesNothing(t *testing.T) {
	up := &source{}
	p := start(up, Options{MissTarget: 1})
	lost, b := p.mustAlloc(t, page), p.mustAlloc(t, page)
	if b.Region != lost.Region {
		t.Fatal("a segment for each")
	}
	upstreamtest.RegionOf(lost).Refuse = errors.New("locked")
	p.giveUpBlock(lost)
	p.free(b)
	p.mustAlloc(t, 64*page)
	if c := p.Counts(); c.Quarantined != page {
		t.Errorf("%d bytes are in quarantine, not %d", c.Quarantined, page)
	}
	if again := p.mustAlloc(t, page); again.Region != b.Region {
		t.Error("the rest of the segment is of no use")
	}
	p.mustCheck(t, up)
}

// Between the looks of a release others may free all of a segment: it is free memory then,
// and nothing of it is lost.
func TestAFreeSegmentIsNotLost(t *testing.T) {
	up := &source{}
	p := start(up, Options{})
	b := p.mustAlloc(t, 10*page)
	p.free(b)
	i := p.largest(free)
	if n := p.releaseRest(i); n != 0 || p.Counts().Quarantined != 0 {
		t.Errorf("%d bytes went, %d are in quarantine", n, p.Counts().Quarantined)
	}
	p.mustCheck(t, up)
	if p.FreeHeld(); up.Bytes != 0 {
		t.Errorf("%d bytes are left", up.Bytes)
	}
}

// A cutter hands out blocks that begin within their regions, and notes the pages that it is to give up.
type cutter struct {
	source
	pages []device.Block
}

func (c *cutter) GiveUp(pages device.Block, n int64) bool {
	c.pages = append(c.pages, pages)
	return c.source.GiveUp(pages, n)
}

// Blocks of an upstream that cuts regions itself are found where they are, and so are the pages that go.
func TestBlocksOfSharedRegions(t *testing.T) {
	up := &cutter{source: source{Align: 64}}
	p := &program{Heap: New(upstream.Check(up, false, 1), Options{Align: 16, MissTarget: 0.01, MaxHeld: math.MaxInt64})}
	if err := p.Prefill(64 * page); err != nil {
		t.Fatal(err)
	}
	first, b := p.mustAlloc(t, 5*page), p.mustAlloc(t, 3*page)
	if first.Off == 0 {
		t.Fatal("the segment begins with its region")
	}
	i, off := p.Locate(device.Block{Region: b.Region, Off: b.Off + 5, Len: 1}, 0)
	if off != 5 || p.Block(i, 0, b.Len) != b {
		t.Errorf("byte 5 of %+v is byte %d of %+v", b, off, p.Block(i, 0, b.Len))
	}
	last := device.Block{Region: b.Region, Off: b.Off - 1, Len: 1}
	if i, off := p.Locate(last, 0); i == none || off != first.Len-1 {
		t.Errorf("the last byte of %+v is byte %d of extent %d", first, off, i)
	}
	if !p.FreeBlock(first, 0) {
		t.Errorf("%+v is not found", first)
	}
	if p.Quarantine(i); len(up.pages) != 1 || up.pages[0] != b {
		t.Errorf("%+v were given up, want %+v", up.pages, b)
	}
}

// The rest of a segment goes with what is lost if that is all but an eighth, and nothing is in use. That of a range is of
// use.
func TestTheScrapOfASegmentGoes(t *testing.T) {
	for _, c := range []struct {
		ranges     bool
		lost, used int // pages of 64
		want       int // pages that are left
	}{
		{false, 56, 0, 0}, {false, 55, 0, 9}, {false, 56, 1, 8}, {true, 56, 0, 8}, {true, 63, 0, 1},
	} {
		up := &pages{}
		p := start(on(up, !c.ranges), Options{})
		if err := p.Prefill(64 * page); err != nil {
			t.Fatal(err)
		}
		lost := p.mustAlloc(t, c.lost*page)
		if c.used > 0 {
			p.mustAlloc(t, c.used*page)
		}
		if p.giveUpBlock(lost); up.Bytes != int64(c.want*page) {
			t.Errorf("%+v: %d bytes are left", c, up.Bytes)
		}
		p.mustCheck(t, &up.Source)
	}
}

// A trim gives back, and counts, what can only go as quarantine does: pages that free memory shares with it, and the rest
// of a segment that has nothing else.
func TestTrimCountsWhatGoesWithQuarantine(t *testing.T) {
	for _, c := range []struct {
		segments bool
		sizes    [3]int // in halves of a page, of what is used, lost and free, or in the other order
		want     int    // pages that go
	}{
		{false, [3]int{2, 1, 1}, 1}, {true, [3]int{2, 1, 1}, 1},
		{false, [3]int{2, 1, 3}, 2}, {true, [3]int{2, 1, 3}, 1},
		{false, [3]int{1, 1, 4}, 2}, {false, [3]int{1, 1, 2}, 1},
	} {
		for _, upwards := range []bool{true, false} {
			halves, order := 0, []int{0, 1, 2}
			if !upwards {
				slices.Reverse(order)
			}
			for _, n := range c.sizes {
				halves += n
			}
			up := &pages{}
			p := start(on(up, c.segments), Options{})
			if err := p.Prefill(halves * page / 2); err != nil {
				t.Fatal(err)
			}
			var blocks [3]device.Block
			for _, k := range order {
				blocks[k] = p.mustAlloc(t, c.sizes[k]*page/2)
			}
			p.giveUpBlock(blocks[1])
			p.free(blocks[2])
			before := p.managed
			if n := p.Trim(0); n != int64(c.want*page) || before-p.managed != n {
				t.Errorf("%+v, upwards %t: %d bytes went, it says, of %d, and %d are left", c, upwards, n, before, p.managed)
			}
			p.mustCheck(t, &up.Source)
		}
	}
	for below := range 2 {
		up := &source{}
		p := start(up, Options{})
		if err := p.Prefill(64 * page); err != nil {
			t.Fatal(err)
		}
		b := p.mustAlloc(t, max(below*8*page, 16))
		p.giveUpBlock(p.mustAlloc(t, 8*page))
		p.free(b)
		before := up.Bytes
		if n := p.Trim(0); n != before || n < 56*page || up.Bytes != 0 {
			t.Errorf("%d bytes went, it says, and %d are left", n, up.Bytes)
		}
		p.mustCheck(t, up)
	}
}
