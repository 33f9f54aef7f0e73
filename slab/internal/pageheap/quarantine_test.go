package pageheap

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/internal/upstreamtest"
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

// A heap whose blocks are all lost needs next to nothing for them.
func TestQuarantineLeavesNoRecords(t *testing.T) {
	for name, segments := range map[string]bool{"range": false, "segments": true} {
		up := &pages{RangeBytes: 64 << 20}
		p := start(on(up, segments), Options{})
		for range 3000 {
			p.giveUpBlock(p.mustAlloc(t, 100_000))
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
			t.Errorf("%s: %d records, %d leaves, %d segments", name, n, leaves, len(p.segs))
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
