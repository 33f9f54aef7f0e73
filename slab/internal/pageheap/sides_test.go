package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Processor 1 cuts large blocks from the upper end of a free extent, the others and small ones are cut from
// the front; and what came back on one processor serves it again.
func TestProcessorsHaveSides(t *testing.T) {
	processor := 0
	p := start(&pages{RangeBytes: 64 * mib}, Options{Processor: func() int { return processor }})
	p.free(p.mustAlloc(t, 8*mib)) // the extent that all are cut from
	for _, c := range []struct{ processor, size, want int }{
		{0, mib, 0},
		{1, mib, 7 * mib},
		{1, sidedFrom, 7*mib - sidedFrom},
		{2, mib, mib},
		{1, sidedFrom - page, 2 * mib},
		{3, mib, 6*mib - sidedFrom},
	} {
		processor = c.processor
		if b := p.mustAlloc(t, c.size); b.Off != c.want {
			t.Errorf("processor %d has %d bytes at %d, want %d", c.processor, c.size, b.Off, c.want)
		}
	}
}

// An extent of just the size has one side.
func TestAnExtentOfTheSizeIsTakenWhole(t *testing.T) {
	p := start(&pages{RangeBytes: 64 * mib}, Options{Processor: func() int { return 1 }})
	p.free(p.mustAlloc(t, mib))
	if b := p.mustAlloc(t, mib); b.Off != 0 || p.managed != mib {
		t.Errorf("a block at %d of %d bytes", b.Off, p.managed)
	}
	if err := p.check(); err != nil {
		t.Error(err)
	}
}

// freeOn is free, on a processor.
func (p *program) freeOn(processor *int, number int, b device.Block) {
	*processor = number
	p.free(b)
}

// takeRest takes what the heap has beyond what was asked for.
func (p *program) takeRest(t *testing.T) {
	t.Helper()
	for p.Counts().FreeBytes > 0 {
		p.mustAlloc(t, page)
	}
}

// wantOn gets 512 KiB on a processor.
func (p *program) wantOn(t *testing.T, processor *int, number, at int) {
	t.Helper()
	*processor = number
	if b := p.mustAlloc(t, mib/2); b.Off != at {
		t.Errorf("processor %d has a block at %d, want %d", number, b.Off, at)
	}
}

// sided returns a program on processors, and the one that it runs on.
func sided() (*program, *int) {
	processor := new(int)
	return start(&pages{RangeBytes: 64 * mib}, Options{Processor: func() int { return *processor }}), processor
}

// ofTwo returns a program on processors, of which 0 has had the bytes of a, 1 MiB, and 1 those of b, 2 MiB.
func ofTwo(t *testing.T) (p *program, processor *int, a, b device.Block) {
	p, processor = sided()
	a = p.mustAlloc(t, mib)
	p.mustAlloc(t, page)
	b = p.mustAlloc(t, 2*mib)
	p.takeRest(t)
	p.freeOn(processor, 0, a)
	p.freeOn(processor, 1, b)
	return p, processor, a, b
}

// A processor takes what it had, though another extent fits better. Without its own it takes what fits.
func TestAProcessorTakesItsOwn(t *testing.T) {
	p, on, a, b := ofTwo(t)
	p.wantOn(t, on, 1, b.Off+b.Len-mib/2)
	p.wantOn(t, on, 0, a.Off)
	p.wantOn(t, on, 2, a.Off+mib/2)
}

// After an epoch a processor takes what fits.
func TestAnEpochForgetsSides(t *testing.T) {
	p, on, a, _ := ofTwo(t)
	p.epoch++
	p.wantOn(t, on, 1, a.Off+a.Len-mib/2)
}

// The least block that has a side is one of 32 KiB.
func TestTheLeastBlockWithASide(t *testing.T) {
	for size, own := range map[int]bool{sidedFrom: true, sidedFrom - page: false} {
		p, on := sided()
		b := p.mustAlloc(t, size)
		p.mustAlloc(t, page)
		other := p.mustAlloc(t, mib)
		p.takeRest(t)
		p.freeOn(on, 1, other)
		p.freeOn(on, 1, b)
		if *on = 0; (p.findOwn(size, p.side()) == none) != own {
			t.Errorf("another processor takes what had %d bytes: %t", size, own)
		}
	}
}

// Two extents that become one are of the side of the longer one, whichever came first.
func TestAnExtentIsOfTheSideThatHadMost(t *testing.T) {
	for _, shortFirst := range []bool{true, false} {
		p, on := sided()
		short, long, _ := p.mustAlloc(t, mib), p.mustAlloc(t, 2*mib), p.mustAlloc(t, page)
		other := p.mustAlloc(t, 4*mib)
		p.takeRest(t)
		if shortFirst {
			p.freeOn(on, 0, short)
		}
		p.freeOn(on, 1, long)
		if !shortFirst {
			p.freeOn(on, 0, short)
		}
		p.freeOn(on, 0, other)
		p.wantOn(t, on, 0, other.Off)
		p.wantOn(t, on, 1, long.Off+long.Len-mib/2)
	}
}

// Memory that no large block had is anybody's.
func TestNewMemoryIsOfAllSides(t *testing.T) {
	p, on := sided()
	p.free(p.mustAlloc(t, 4*mib))
	own := p.mustAlloc(t, 4*mib)
	p.mustAlloc(t, page)
	var small []device.Block
	for range 40 {
		small = append(small, p.mustAlloc(t, sidedFrom-page))
	}
	p.takeRest(t)
	p.freeOn(on, 0, own)
	p.freeAll(small)
	p.wantOn(t, on, 0, small[0].Off)
	p.wantOn(t, on, 1, small[39].Off+small[39].Len-mib/2)
}

// A processor looks for its own among 16 extents, and then takes what fits.
func TestTheSearchForItsOwnEnds(t *testing.T) {
	for others, own := range map[int]bool{near - 1: true, near: false} {
		p, on := sided()
		var list []device.Block
		for range others {
			list = append(list, p.mustAlloc(t, mib))
			p.mustAlloc(t, page)
		}
		mine := p.mustAlloc(t, mib+mib/32) // of the next list
		p.takeRest(t)
		p.freeAll(list) // on processor 0
		p.freeOn(on, 2, mine)
		*on = 2
		if b := p.mustAlloc(t, mib/2); (b.Off == mine.Off) != own {
			t.Errorf("beside %d extents of another processor: a block at %d, its own are at %d", others, b.Off, mine.Off)
		}
	}
}
