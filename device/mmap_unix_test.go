//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

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

// One call makes far more accessible than is committed; what is committed above it, with
// a gap, does not count as ready.
func TestMmapRangesAreReadyFarAhead(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("a range has 64 MiB at most there")
	}
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(256 << 20))(t)
	defer g.Close()
	lazy, page := g.(LazyRange), g.Page()
	if lazy.Ready() != 0 {
		t.Errorf("%d bytes are ready at first", lazy.Ready())
	}
	for _, c := range []struct{ off, n, ready int }{
		{0, page, aheadBytes}, {page, page, aheadBytes}, {8 << 20, page, aheadBytes},
		{aheadBytes - page, 2 * page, aheadTimes * aheadBytes}, {0, 200 << 20, 200 << 20}, {0, 256 << 20, 256 << 20},
	} {
		check.Must(t, g.Commit(c.off, c.n))
		if lazy.Ready() != c.ready {
			t.Errorf("%d bytes ready after a Commit of %d at %d, want %d", lazy.Ready(), c.n, c.off, c.ready)
		}
		m := g.Region().(HostRegion).Bytes()
		m[c.off], m[c.off+c.n-1] = 1, 1
	}
}

// A range has a share of the addresses at most, whatever is asked, and all ranges have
// one together: what they give back, by GiveUp or Close, others get.
func TestMmapRangesHaveAShareOfTheAddresses(t *testing.T) {
	d := opened(t, "mmap").(Reserver)
	var open []Range
	one, all := rangeShares()
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
	check.Must(t, open[0].Region().(Shrinker).GiveUp(page, open[0].Region().Size()-page))
	open = append(open, check.Ok(d.Reserve(int(one)/2))(t))
	for _, g := range open {
		check.Must(t, g.Close())
	}
	if n := rangeBytes.Load(); n > all/2 {
		t.Errorf("closed ranges count %d bytes", n)
	}
}

// A closed range leaves the count as it was, whatever it has given up before.
func TestClosedRangesDoNotCount(t *testing.T) {
	before := rangeBytes.Load()
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	r, page := g.Region().(Shrinker), g.Page()
	check.Must(t, r.GiveUp(page, page), r.GiveUp(g.Region().Size()-page, page), g.Close())
	if n := rangeBytes.Load(); n != before {
		t.Errorf("%d bytes are counted, %d before", n, before)
	}
}

// Decommitted pages have no memory behind them: on Linux they read as zeros.
func TestMmapGivesBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems may give memory back later")
	}
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(1 << 20))(t)
	defer g.Close()
	check.Must(t, g.Commit(0, 1<<20))
	m := g.Region().(HostRegion).Bytes()
	Fill(m, 1)
	check.Must(t, g.Decommit(0, 1<<20))
	if m[0] != 0 || m[1<<20-1] != 0 {
		t.Error("decommitted pages keep their contents")
	}
}

func TestSentinel(t *testing.T) {
	for _, err := range []error{unix.ENOMEM, unix.EAGAIN, unix.EINVAL} {
		check.Wraps(t, sentinel(err), ErrOutOfMemory)
	}
	check.Wraps(t, sentinel(unix.EACCES), ErrUnavailable)
}
