//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
)

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

// Beyond mostRuns runs of pages the process keeps its mappings: late readers find zeros.
func TestQuarantineKeepsMappings(t *testing.T) {
	d, err := Open("mmap")
	check.Must(t, err)
	before := inaccessible.Load()
	inaccessible.Store(mostRuns - 1)
	b, err := d.Alloc(8 * page)
	check.Must(t, err)
	m := Bytes(b)
	m[0], m[3*page], m[page] = 1, 1, 1
	q := b.Region.(Quarantiner)
	check.Must(t, q.Quarantine(0, page), q.Quarantine(3*page, page), q.Quarantine(page, page))
	for i, want := range []bool{true, true, false, false} {
		if got := faults(&m[i*page]); got != want {
			t.Errorf("page %d: faults is %v", i, got)
		}
	}
	if m[3*page] != 0 {
		t.Error("old contents")
	}
	d.Free(b)
	if n := inaccessible.Load(); n != mostRuns-1 {
		t.Errorf("%d runs are left", n-mostRuns+1)
	}
	inaccessible.Store(before)
}
