package pageheap

import (
	"errors"
	"math"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/upstream"
)

func TestAFullRangeOpensAnother(t *testing.T) {
	up := &pages{RangeBytes: 16 * page}
	p := start(up, Options{})
	live := fill(t, p, 50)
	if up.Open < 4 {
		t.Errorf("%d ranges", up.Open)
	}
	p.mustCheck(t, &up.Source)
	p.freeAll(live)
	p.FreeHeld()
	if up.Open != 0 || up.Bytes != 0 {
		t.Errorf("%d ranges of %d bytes", up.Open, up.Bytes)
	}
}

// Without new addresses a segment serves, and decommitted pages of the old ones still do.
func TestSegmentsServeWhereNoRangeCanBeOpened(t *testing.T) {
	up := &pages{RangeBytes: 16 * page, Ranges: 1}
	p := start(up, Options{})
	live := fill(t, p, 16)
	large := p.mustAlloc(t, 40*page)
	if large.Region == live[0].Region || up.Opened != 1 {
		t.Fatalf("%d ranges, the block is at %d of the first", up.Opened, large.Off)
	}
	for i := p.largest(free); i != none; i = p.largest(free) {
		p.mustAlloc(t, p.at(i).len)
	}
	p.freeAll(live[3:5])
	p.FreeHeld()
	if p.index[decommitted].bytes != 2*page {
		t.Fatalf("%d bytes decommitted", p.index[decommitted].bytes)
	}
	if blk, err := p.alloc(2 * page); err != nil || blk.Off != live[3].Off || blk.Region != live[0].Region {
		t.Errorf("block at %d, %v", blk.Off, err)
	}
	p.mustCheck(t, &up.Source)
}

// A block larger than the upstream gives a range has a segment.
func TestABlockLargerThanARangeHasASegment(t *testing.T) {
	up := &pages{RangeBytes: 16 * page}
	p := start(up, Options{})
	p.mustAlloc(t, page)
	p.free(p.mustAlloc(t, 40*page))
	fill(t, p, 100) // of both
	p.mustCheck(t, &up.Source)
	p.FreeHeld()
	p.mustCheck(t, &up.Source)
}

// A heap reserves few addresses at first and a multiple of what it has then: many heaps
// need few, and one that grows has few ranges.
func TestRangesBeginSmallAndMultiply(t *testing.T) {
	if math.MaxInt>>40 == 0 {
		t.Skip("an int has 32 bits")
	}
	up := &pages{RangeBytes: math.MaxInt}
	p := start(up, Options{})
	p.mustAlloc(t, 10)
	if n := p.segs[0].rng.Region().Size(); n != 64<<20 {
		t.Errorf("a range of %d bytes for a block of 10", n)
	}
	for range 1000 {
		p.mustAlloc(t, 64<<20)
	}
	if up.Open > 5 {
		t.Errorf("%d ranges for 64 GiB", up.Open)
	}
	p.mustAlloc(t, math.MaxInt>>20) // larger than all before
	if err := p.check(); err != nil {
		t.Error(err)
	}
}

// A range has 8 times the addresses of the block that it is for, or of all earlier ranges, and for the largest block
// a page more than it.
func TestAddressesOfARange(t *testing.T) {
	p, _ := onRange()
	for n, want := range map[int]int{1: firstRange, 8 * mib: firstRange, 8*mib + 1: firstRange + 8} {
		if got := p.rangeFor(n); got != want {
			t.Errorf("%d bytes of addresses for %d, want %d", got, n, want)
		}
	}
	if got := p.rangeFor(upstream.MaxSize); got < upstream.MaxSize+8*mib || got > 3*(upstream.MaxSize/2) {
		t.Errorf("%d bytes of addresses for %d", got, upstream.MaxSize)
	}
	for range 2 {
		if err := p.openRange(firstRange - page); err != nil {
			t.Fatal(err)
		}
		p.takeRest(t)
		p.mustAlloc(t, firstRange-2*page)
	}
	before := 0
	for _, s := range p.segs {
		before += s.rng.Region().Size()
	}
	if got := p.rangeFor(1); got != 8*min(before, upstream.MaxSize/8) {
		t.Errorf("%d bytes of addresses, %d before", got, before)
	}
}

// Addresses of open ranges are used up before there is another range: a range is enough for a block if a page is left
// to round up.
func TestOpenRangesAreUsedUp(t *testing.T) {
	up := &pages{RangeBytes: 16 * page}
	p := start(up, Options{MaxHeld: -1})
	first := p.mustAlloc(t, 10*page)
	second := p.mustAlloc(t, 15*page) // all that a range is for certain
	if b := p.mustAlloc(t, 5*page); b.Region != first.Region || second.Region == first.Region || up.Opened != 2 {
		t.Errorf("%d ranges; a block at %d, another at %d, then one at %d", up.Opened, first.Off, second.Off, b.Off)
	}
	p.mustCheck(t, &up.Source)
}

// A heap that holds nothing keeps no addresses above its memory, also of what is freed
// later, and can still grow.
func TestStopHoldingGivesUpAddresses(t *testing.T) {
	up := &pages{RangeBytes: 64 * page}
	p := start(up, Options{})
	live := fill(t, p, 40)
	p.freeAll(live[30:])
	p.StopHolding()
	size := func(s int) int { return p.segs[s].rng.Region().Size() }
	if n := size(0); n != 30*page {
		t.Errorf("%d bytes of addresses for 30 pages", n)
	}
	p.freeAll(live[10:30])
	if n := size(0); n != 10*page {
		t.Errorf("%d bytes of addresses for 10 pages", n)
	}
	more := fill(t, p, 5)
	if up.Open != 2 || size(1) != 64*page {
		t.Errorf("%d ranges", up.Open)
	}
	p.freeAll(more[1:])
	if n := size(1); n != page {
		t.Errorf("%d bytes of addresses for a page", n)
	}
	p.mustCheck(t, &up.Source)
	p.freeAll(live[:10])
	if p.free(more[0]); up.Open != 0 || up.Bytes != 0 {
		t.Errorf("%d ranges of %d bytes left", up.Open, up.Bytes)
	}
}

// A heap that holds nothing, and whose blocks of a range are all in quarantine, keeps no
// addresses between them: not those that a roomy block had below, either.
func TestQuarantineKeepsNoAddressesOfOthers(t *testing.T) {
	up := &pages{RangeBytes: 512 << 20}
	p := start(up, Options{})
	low, between := p.mustAlloc(t, 10*page), p.mustAlloc(t, 10*page)
	p.Lock()
	i := p.AllocRoomy(10 * page)
	p.Unlock()
	whole, end := p.segs[0].rng.Region().Size(), p.at(i).off+10*page
	if p.at(i).off < 16<<20 {
		t.Fatalf("the roomy block is at %d", p.at(i).off)
	}
	p.StopHolding()
	p.Quarantine(i)
	p.giveUpBlock(low)
	if n := whole - end; n <= 0 || up.GivenUp != n {
		t.Errorf("%d bytes of addresses given up while a block is out, want %d", up.GivenUp, n)
	}
	p.free(between)
	if n := whole - 20*page; up.GivenUp != n {
		t.Errorf("%d bytes of addresses given up, want %d", up.GivenUp, n)
	}
	if c := p.Counts(); c.Quarantined != 0 || c.ManagedBytes != 0 {
		t.Errorf("%d bytes in quarantine of %d", c.Quarantined, c.ManagedBytes)
	}
	p.mustAlloc(t, 10*page) // of another range
	p.mustCheck(t, &up.Source)
	if up.Open != 2 {
		t.Errorf("%d ranges", up.Open)
	}
}

// A range in which no memory was ever had is closed, also after a panic. What has memory stays.
func TestARangeWithoutMemoryIsClosed(t *testing.T) {
	for _, panics := range []bool{true, false} {
		up := &pages{Source: source{FailAt: 1, FailWith: errors.New("told to"), Panic: panics}}
		p := start(up, Options{})
		func() {
			defer func() { _ = recover() }()
			if _, err := p.alloc(100); err == nil {
				t.Error("no error")
			}
		}()
		if up.Opened != 1 || up.Open != 0 || p.current != -1 {
			t.Errorf("%d ranges, %d are open", up.Opened, up.Open)
		}
		p.mustAlloc(t, 100)
		up.FailAt = up.Calls + 1
		func() {
			defer func() { _ = recover() }()
			if _, err := p.alloc(100 * page); err == nil {
				t.Error("no error")
			}
		}()
		if up.Opened != 2 || up.Open != 1 {
			t.Errorf("%d ranges, %d are open", up.Opened, up.Open)
		}
		p.mustCheck(t, &up.Source)
	}
}
