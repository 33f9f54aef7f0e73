package devicetest

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// rangeBytes are asked for: a few pages, where they are as large as a GPU's, too.
const rangeBytes = 32 << 20

// reserve returns a range, or skips.
func reserve(t *testing.T, d device.Device) device.Range {
	t.Helper()
	r, ok := d.(device.Reserver)
	if !ok {
		t.Skip("the device does not reserve addresses")
	}
	g, err := r.Reserve(rangeBytes)
	unavailable(t, err, "the device does not reserve addresses")
	return g
}

// ranges: committed bytes are memory, extended in place and given back piecewise.
func ranges(t *testing.T, d device.Device) {
	g := reserve(t, d)
	page, size := g.Page(), g.Region().Size()
	if page < 1 || page&(page-1) != 0 || size > rangeBytes || size%page != 0 {
		t.Fatalf("a range of %d bytes, asked for %d, in pages of %d", size, rangeBytes, page)
	}
	must(t, g.Commit(0, 0), g.Commit(0, page), g.Commit(page, page))
	must(t, g.Commit(0, 2*page)) // again: nothing changes
	must(t, g.Commit(size-page, page))
	if l, ok := g.(device.LazyRange); ok {
		lazyRange(t, l)
	}
	rangeContents(t, d, g)
	must(t, g.Decommit(0, page), g.Close())
}

// lazyRange: what is ready is within the range, and grows with what is committed from the
// first byte on. The first two pages are committed.
func lazyRange(t *testing.T, g device.LazyRange) {
	for n := 2 * g.Page(); n <= g.Region().Size(); n *= 2 {
		must(t, g.Commit(0, n))
		if ready := g.Ready(); ready < n || ready > g.Region().Size() {
			t.Errorf("%d bytes are ready with %d committed of %d", ready, n, g.Region().Size())
		}
	}
	must(t, g.Commit(0, g.Ready()))
}

func rangeContents(t *testing.T, d device.Device, g device.Range) {
	page := g.Page()
	whole := device.Block{Region: g.Region(), Len: 2 * page}
	if err := d.Copy(whole, onHost(t, pattern(2*page, 1))); errors.Is(err, device.ErrUnavailable) {
		return // no memory behind it
	}
	must(t, g.Commit(0, 3*page))
	same(t, read(t, d, whole), pattern(2*page, 1), "contents after extending")
	must(t, g.Decommit(0, page))
	second := part(whole, page, page)
	same(t, read(t, d, second), pattern(2*page, 1)[page:], "contents beside a decommitted page")
	must(t, g.Commit(0, page))
	write(t, d, whole, pattern(2*page, 2))
	same(t, read(t, d, whole), pattern(2*page, 2), "contents after committing again")
}

// rangeMistakes: sizes that make no sense are refused, and a range is no block.
func rangeMistakes(t *testing.T, d device.Device) {
	g := reserve(t, d)
	for _, n := range []int{-1, 0} {
		_, err := d.(device.Reserver).Reserve(n)
		wants(t, err, "Reserve of nothing", device.ErrSize)
	}
	page, size := g.Page(), g.Region().Size()
	for _, c := range [][2]int{{-page, page}, {0, -page}, {size, page}, {0, size + page}, {1, page}, {0, page + 1}} {
		if page == 1 && c[0] == 1 {
			continue
		}
		wants(t, g.Commit(c[0], c[1]), "Commit of bad bytes", device.ErrSize)
		wants(t, g.Decommit(c[0], c[1]), "Decommit of bad bytes", device.ErrSize)
	}
	mustPanic(t, "Free of a range", func() { d.Free(device.Block{Region: g.Region(), Len: size}) })
	must(t, g.Close())
	wants(t, g.Commit(0, page), "Commit after Close", device.ErrClosed)
	wants(t, g.Decommit(0, page), "Decommit after Close", device.ErrClosed)
	wants(t, g.Close(), "second Close", device.ErrClosed)
}

// rangeGivesUp: addresses go back, and the others stay as they were.
func rangeGivesUp(t *testing.T, d device.Device) {
	g := reserve(t, d)
	r, ok := g.Region().(device.Shrinker)
	if !ok {
		must(t, g.Close())
		t.Skip("ranges of this device give up no addresses")
	}
	page, size := g.Page(), g.Region().Size()
	must(t, g.Commit(0, page), g.Commit(4*page, 2*page))
	whole := device.Block{Region: g.Region(), Off: 4 * page, Len: 2 * page}
	write(t, d, whole, pattern(2*page, 1))
	for _, x := range [][2]int{{0, size}, {-page, page}, {0, -page}, {size, page}, {6*page + page/2, page},
		{7 * page, page / 2}} {
		wants(t, r.GiveUp(x[0], x[1]), "GiveUp of bad bytes", device.ErrSize)
	}
	must(t, r.GiveUp(size, 0), r.GiveUp(8*page, size-8*page), r.GiveUp(6*page, 2*page))
	if n := g.Region().Size(); n != 6*page {
		t.Errorf("a range of %d bytes is cut to %d", n, 6*page)
	}
	wants(t, g.Commit(6*page, page), "Commit above the end", device.ErrSize)
	must(t, g.Decommit(0, page), r.GiveUp(0, page), r.GiveUp(2*page, 2*page), r.GiveUp(page, page))
	wants(t, r.GiveUp(3*page, page), "GiveUp of what is gone", device.ErrSize)
	same(t, read(t, d, whole), pattern(2*page, 1), "contents after giving up")
	must(t, g.Decommit(4*page, page), g.Commit(4*page, page), g.Close())
	wants(t, r.GiveUp(5*page, page), "GiveUp after Close", device.ErrClosed)

	b := alloc(t, d, 4*page)
	defer d.Free(b)
	if r, ok := b.Region.(device.Shrinker); ok {
		wants(t, r.GiveUp(page, page), "GiveUp of a block", device.ErrSize)
	}
}
