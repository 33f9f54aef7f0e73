package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
)

// holed returns a program whose heap has n free extents of size bytes, each before a page in use, and used bytes
// in one more block.
func holed(t *testing.T, n, size, used int) (p *program, up *pages, holes []device.Block) {
	t.Helper()
	p, up = onRange()
	if err := p.Prefill(n*(size+page) + used); err != nil {
		t.Fatal(err)
	}
	if used > 0 {
		p.mustAlloc(t, used)
	}
	for range n {
		holes = append(holes, p.mustAlloc(t, size))
		p.mustAlloc(t, page)
	}
	for _, b := range holes {
		p.freeLocked(b)
	}
	return p, up, holes
}

// forgetPeak makes each growth a new peak. A check build takes that for a fault.
func (p *program) forgetPeak(t *testing.T) {
	t.Helper()
	if invariants.Enabled {
		t.Skip("a heap has no more bytes than it had at most")
	}
	p.policy.high = 0
}

// A block that grows had better be copied if so much is free in one place, and as much was in use before.
func TestABlockHasRoomWhereAsMuchWasInUse(t *testing.T) {
	const hole = 4 * page
	p, _, _ := holed(t, 1, hole, 0)
	for _, c := range []struct {
		more, n int
		had     int64
		want    bool
	}{
		{2 * page, hole, p.usedBytes() + 2*page, true},
		{2 * page, hole, p.usedBytes() + 2*page - 1, false},
		{2 * page, hole + 16, p.usedBytes() + 2*page, false},
	} {
		if p.peakLeft = c.had; p.hasRoom(c.more, c.n) != c.want {
			t.Errorf("%+v: %t", c, !c.want)
		}
	}
}

// Before growth as many bytes go as it takes, of whole extents, and not those that the block will use.
func TestGrowthIsMadeGoodFor(t *testing.T) {
	const hole = firstStep
	for n, want := range map[int]int{0: 0, 1: 1, hole: 1, hole + 1: 2, 2 * hole: 2, 4 * hole: 4, 100 * hole: 4} {
		p, up, _ := holed(t, 4, hole, 0)
		p.forgetPeak(t)
		if p.makeGood(n, none); up.Decommits != want {
			t.Errorf("%d extents went before growth by %d bytes, want %d", up.Decommits, n, want)
		}
	}
	p, up, holes := holed(t, 2, hole, 0)
	p.forgetPeak(t)
	last, _ := p.Locate(device.Block{Region: holes[1].Region, Off: holes[1].Off - page, Len: page}, 0)
	if p.makeGood(1, last); up.Decommits != 0 {
		t.Error("memory went that the block after it was to have")
	}
	first, _ := p.Locate(device.Block{Region: holes[1].Region, Off: holes[1].Off + hole, Len: page}, 0)
	if p.makeGood(1, first); up.Decommits != 1 {
		t.Errorf("%d extents went before a block that is not beside them grows", up.Decommits)
	}
}

// Too much is free if a growth makes a new peak, more than a quarter is free, and an extent is worth a call.
func TestTooMuchIsFree(t *testing.T) {
	for _, c := range []struct {
		holes, size, used int
		more              int // of the growth, beyond the old peak
		want              bool
	}{
		{1, firstStep, 0, 1, true},
		{1, firstStep, 0, 0, false},
		{1, firstStep, 46 * page, 1, true}, // of 63 pages, 16 are free
		{1, firstStep, 47 * page, 1, false},
		{4, firstStep - page, 0, 1, false},
	} {
		p, _, _ := holed(t, c.holes, c.size, c.used)
		p.policy.high += 100
		if got := p.tooMuchFree(100+c.more, none); (got != none) != c.want {
			t.Errorf("%+v: extent %d", c, got)
		}
	}
}

// The owner drains before a new peak only, and again once the heap has grown by a 128th.
func TestDrainsBeforeAPeak(t *testing.T) {
	drains := 0
	p := start(&pages{}, Options{BeforePeak: func() { drains++ }})
	for k, c := range []struct {
		managed int64
		n       int
		want    bool
	}{
		{0, 1000 * page, false}, // there is nothing to drain
		{128 * page, page, false},
		{128 * page, page + 1, true},
		{128 * page, 10 * page, false},
		{129 * page, 10 * page, false},
		{129*page + 1, 10 * page, true},
		{130 * page, 10 * page, false},
	} {
		before := drains
		p.managed, p.policy.high = c.managed, 129*page
		if p.Lock(); p.drainBeforePeak(c.n) != c.want || drains-before != map[bool]int{true: 1}[c.want] {
			t.Errorf("%d: %+v: %d drains", k, c, drains-before)
		}
		p.mu.Unlock()
	}
	if p = start(&pages{}, Options{}); p.drainBeforePeak(page) {
		t.Error("there is no owner")
	}
}

// Before a new peak at most two extents go, as each is a call.
func TestTwoExtentsGoBeforeAPeak(t *testing.T) {
	p, up, _ := holed(t, 6, firstStep, 0)
	p.forgetPeak(t)
	if p.mustAlloc(t, 2*firstStep); up.Decommits != 2 {
		t.Errorf("%d extents went", up.Decommits)
	}
}
