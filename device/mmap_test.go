//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package device

import (
	"math"
	"os"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func TestMmapRegionsAreWholePages(t *testing.T) {
	d, page := opened(t, "mmap"), os.Getpagesize()
	for _, n := range []int{1, page - 1, page, page + 1, 3 * page} {
		b := check.Ok(d.Alloc(n))(t)
		m := b.Region.(HostRegion).Bytes()
		if len(m) != roundUp(n, page) || b.Region.Size() != len(m) || address(m)%uintptr(page) != 0 {
			t.Errorf("%d bytes have a region of %d at %#x", n, len(m), address(m))
		}
		if b.Len != n || len(Bytes(b)) != n {
			t.Errorf("%d bytes are a block of %d", n, b.Len)
		}
		d.Free(b)
		if b.Region.(HostRegion).Bytes() != nil {
			t.Error("unmapped memory has bytes")
		}
	}
}

func TestMmapTooLarge(t *testing.T) {
	d := opened(t, "mmap")
	for _, n := range []int{addressable + 1, math.MaxInt} {
		check.Wraps(t, check.Err(d.Alloc(n)), ErrOutOfMemory)
	}
}

// A range is one slice from the start; what is not committed is in it too.
func TestMmapRangeBytes(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(64 << 20))(t)
	defer g.Close()
	m := g.Region().(HostRegion).Bytes()
	if len(m) != g.Region().Size() {
		t.Fatalf("%d bytes of %d", len(m), g.Region().Size())
	}
	last := len(m) - g.Page()
	check.Must(t, g.Commit(last, g.Page()))
	m[len(m)-1] = 1
}

// A range has a share of the addresses at most, whatever is asked, and all ranges have
// one together: what they give back, by GiveUp or Close, others get.
func TestMmapRangesHaveAShareOfTheAddresses(t *testing.T) {
	d := opened(t, "mmap").(Reserver)
	var open []Range
	one, all := rangeShares()
	if others := all - 16*one; others > 0 { // another's: emulators spend memory on addresses
		rangeBytes.Add(others)
		defer rangeBytes.Add(-others)
		all -= others
	}
	before := rangeBytes.Load()
	for {
		g, err := d.Reserve(addressable)
		if err != nil {
			check.Wraps(t, err, ErrUnavailable)
			break
		}
		if n := int64(g.Region().Size()); n > one || n < one-int64(g.Page()) {
			t.Fatalf("a range of %d bytes, %d are its share", n, one)
		}
		open = append(open, g)
	}
	if n := int64(len(open)); n > all/one || n < all/one-8 { // tests before may have left some
		t.Errorf("%d ranges of %d bytes, %d are the share of all", n, one, all)
	}
	page := open[0].Page()
	if r, ok := open[0].Region().(Shrinker); ok {
		check.Must(t, r.GiveUp(page, open[0].Region().Size()-page))
	} else { // on Windows
		check.Must(t, open[0].Close())
		open = open[1:]
	}
	open = append(open, check.Ok(d.Reserve(int(one)/2))(t))
	for _, g := range open {
		check.Must(t, g.Close())
	}
	if n := rangeBytes.Load() - before; n != 0 {
		t.Errorf("closed ranges count %d bytes", n)
	}
}

// A closed range leaves the count as it was, whatever it has given up before.
func TestClosedRangesDoNotCount(t *testing.T) {
	before := rangeBytes.Load()
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	page := g.Page()
	if r, ok := g.Region().(Shrinker); ok {
		check.Must(t, r.GiveUp(page, page), r.GiveUp(g.Region().Size()-page, page))
	}
	check.Must(t, g.Close())
	if n := rangeBytes.Load(); n != before {
		t.Errorf("%d bytes are counted, %d before", n, before)
	}
}
