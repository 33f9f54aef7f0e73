package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A roomy place is the middle of free memory of 16 times the block, with a thousand blocks below it at most. Where
// no block below grows into it, it is all of that.
func TestTheMiddleOfFreeMemory(t *testing.T) {
	for _, c := range []struct{ below, pages, n, want int }{
		{0, 8, 8 * page / 16, 0},
		{0, 8, 8*page/16 + 16, -1},
		{16, 8, 8*page/16 - 1, 4 * page},
		{16, 8, 8 * page / 16, -1},
		{16, 64, 16, 16 + 1024*16},
	} {
		p, _ := onRange()
		if err := p.Prefill(c.pages * page); err != nil {
			t.Fatal(err)
		}
		if c.below > 0 {
			p.mustAlloc(t, c.below)
		}
		got := -1
		if i := p.middle(c.n); i != none {
			got = p.at(i).off
			p.take(i, align.Up(c.n, p.align), c.n)
		}
		if got != c.want {
			t.Errorf("%+v: a place at %d", c, got)
		}
		if err := p.check(); err != nil {
			t.Error(err)
		}
	}
}

// Nothing grows into free memory above pages that have gone.
func TestTheMiddleAboveDecommittedPages(t *testing.T) {
	p, _ := onRange()
	if err := p.Prefill(32 * page); err != nil {
		t.Fatal(err)
	}
	p.mustAlloc(t, page)
	gone, b := p.mustAlloc(t, page), p.mustAlloc(t, page)
	i, _ := p.Locate(gone, 0)
	p.free(gone)
	p.release(i)
	p.free(b)
	if i := p.middle(page); p.at(i).off != b.Off {
		t.Errorf("a place at %d, free is all from %d on", p.at(i).off, b.Off)
	}
}

// A roomy block lies above half of the addresses that are left, but not above more than 64 MiB, or four blocks.
func TestAddressesBelowARoomyBlock(t *testing.T) {
	for _, c := range []struct{ size, addresses, want int }{
		{page, 8 * mib, 4 * mib},
		{page, 512 * mib, page + 64*mib},
		{32 * mib, 1024 * mib, page + 128*mib},
	} {
		if c.size > upstream.MaxSize/roomyRange {
			continue // none is roomy where an int has 32 bits
		}
		p := start(&pages{RangeBytes: c.addresses}, Options{MaxHeld: -1})
		if err := p.openRange(c.addresses/rangeTimes - page); err != nil {
			t.Fatal(err)
		}
		p.mustAlloc(t, page)
		if b, err := p.allocRoomy(c.size); err != nil || b.Off != c.want {
			t.Errorf("%+v: at %d, %v", c, b.Off, err)
		}
	}
}

// The range of a roomy block has addresses for a thousand blocks or two first steps; for more than 128 MiB only as
// far as 16 blocks need them.
func TestAddressesForARoomyBlock(t *testing.T) {
	for _, c := range []struct{ size, addresses int }{
		{16, 2 * firstStep}, {16 << 10, 16 * mib}, {mib, 128 * mib}, {16 * mib, 256 * mib},
	} {
		if c.size > upstream.MaxSize/roomyRange {
			continue
		}
		for bytes, want := range map[int]bool{c.addresses + page: true, c.addresses: false} {
			up := &pages{RangeBytes: bytes}
			p := start(up, Options{})
			if _, err := p.allocRoomy(c.size); (err == nil) != want || (up.Open > 0) != want {
				t.Errorf("%+v in a range of %d bytes: %v, %d ranges", c, bytes, err, up.Open)
			}
		}
	}
}

// A page of more than a first step is too much for one block.
func TestNoRoomyBlockOfLargePages(t *testing.T) {
	for align, want := range map[int]bool{firstStep: true, 2 * firstStep: false} {
		up := &pages{RangeBytes: 512 * mib}
		p := start(up, Options{Align: align})
		if _, err := p.allocRoomy(100); (err == nil) != want || (up.Open > 0) != want {
			t.Errorf("with pages of %d bytes: %v, %d ranges", align, err, up.Open)
		}
	}
}
