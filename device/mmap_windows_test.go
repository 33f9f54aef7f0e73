package device

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/bufslab/bufslab/internal/check"
)

// committed counts the bytes of m that are committed.
func committed(t *testing.T, m []byte) (n int) {
	t.Helper()
	for at := 0; at < len(m); {
		var info windows.MemoryBasicInformation
		check.Must(t, windows.VirtualQuery(address(m[at:]), &info, unsafe.Sizeof(info)))
		rest := min(int(info.RegionSize), len(m)-at)
		if info.State == windows.MEM_COMMIT {
			n += rest
		}
		at += rest
	}
	return n
}

// A range commits a little ahead at its top, a sixteenth where it is large, and gives that back with the
// top: all of a range that was decommitted counts for nothing.
func TestRangesCommitALittleAhead(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	defer func() { check.Must(t, g.Close()) }()
	m, lazy := g.Region().(HostRegion).Bytes(), g.(LazyRange)
	want := func(bytes, ready int, when string) {
		t.Helper()
		if n := committed(t, m); n != bytes || lazy.Ready() != ready {
			t.Errorf("%s: %d bytes are committed, not %d, and %d ready, not %d", when, n, bytes, lazy.Ready(), ready)
		}
	}
	want(0, 0, "at first")
	check.Must(t, g.Commit(0, page))
	want(aheadBytes, aheadBytes, "after a Commit of a page")
	check.Must(t, g.Commit(page, aheadBytes-page))
	want(aheadBytes, aheadBytes, "when all that is committed")
	check.Must(t, g.Commit(aheadBytes, 31*aheadBytes))
	want(34*aheadBytes, 34*aheadBytes, "after a large one")
	check.Must(t, g.Decommit(page, 2*page))
	want(34*aheadBytes-2*page, 34*aheadBytes, "after a Decommit below the top")
	check.Must(t, g.Commit(page, 2*page))
	want(34*aheadBytes, 34*aheadBytes, "after a Commit of the same")
	check.Must(t, g.Commit(40*aheadBytes, page))
	want(34*aheadBytes+page, 34*aheadBytes, "after one above a gap")
	check.Must(t, g.Decommit(page, 40*aheadBytes))
	want(page, page, "after a Decommit at the top")
	check.Must(t, g.Commit(page, 63*aheadBytes-page))
	want(len(m), len(m), "after a Commit near the end")
	check.Must(t, g.Decommit(0, 0), g.Decommit(0, 63*aheadBytes))
	want(0, 0, "at last")
}

// Where the system has no room for what is ahead, the pages alone are committed; where it has none for them,
// nothing is. What goes beyond the reserved addresses, of which alignment has left 2 MiB at most, cannot be
// committed.
func TestCommitWithoutRoom(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t).(*mmapRange)
	defer func() { check.Must(t, g.Close()) }()
	m := g.r.Bytes()
	beyond := unsafe.Slice(unsafe.SliceData(m), 2*len(m))
	g.ready = len(m) - page
	if err := g.commit(beyond, len(m)-page, len(m)+4<<20); err == nil || g.ready != len(m)-page || committed(t, m) != 0 {
		t.Errorf("%d bytes are committed, ready up to %d, %v", committed(t, m), g.ready, err)
	}
	check.Must(t, g.commit(beyond, len(m)-page, len(m))) // and with 4 MiB ahead it would not be
	if n := committed(t, m); n != page || g.ready != len(m) {
		t.Errorf("%d bytes are committed, ready up to %d", n, g.ready)
	}
}

// Decommitted pages fault, and so does quarantine, in any number of runs; committed again they are zeros.
func TestWhatIsGivenBackFaults(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(1 << 20))(t)
	defer g.Close()
	check.Must(t, g.Commit(0, 1<<20))
	m := g.Region().(HostRegion).Bytes()
	Fill(m, 1)
	check.Must(t, g.Decommit(page, page))
	if !faults(&m[page]) || m[0] != 1 || m[2*page] != 1 {
		t.Error("a decommitted page can be read, or a neighbour has changed")
	}
	check.Must(t, g.Commit(page, page))
	if m[page] != 0 {
		t.Error("a page that was committed again has its contents")
	}
	for off := 0; off < len(m); off += 2 * page {
		check.Must(t, g.Region().(Quarantiner).Quarantine(off, page))
	}
	for off := 0; off < len(m); off += page {
		if got := faults(&m[off]); got != (off/page%2 == 0) {
			t.Errorf("page %d: faults is %v", off/page, got)
		}
	}
}

// Blocks lie at any multiple that is asked for, and give all their addresses back.
func TestAlignedBlocks(t *testing.T) {
	d := opened(t, "mmap").(*mmap)
	for _, align := range []int{1, page, granularity, 2 * granularity, hugePage, 64 << 20} {
		b := check.Ok(d.AllocAligned(3*page, align))(t)
		m, r := Bytes(b), b.Region.(*mmapRegion)
		if address(m)%uintptr(align) != 0 || committed(t, m) != 3*page {
			t.Errorf("%d bytes are committed at %#x for a multiple of %d", committed(t, m), address(m), align)
		}
		d.Free(b)
		var info windows.MemoryBasicInformation
		check.Must(t, windows.VirtualQuery(r.base, &info, unsafe.Sizeof(info)))
		if info.State == windows.MEM_RESERVE && info.AllocationBase == r.base {
			t.Errorf("a block at a multiple of %d has left its addresses", align)
		}
	}
}

// Huge pages are refused in a sentence, and small ones are what there is.
func TestPagesOnWindows(t *testing.T) {
	d, err := Open("mmap:huge")
	if check.Wraps(t, err, ErrUnavailable); d != nil || !strings.Contains(err.Error(), "huge pages on mmap: those of Windows are locked") {
		t.Errorf("%v, %v", d, err)
	}
	check.Must(t, opened(t, "mmap:small").Close())
}

func TestSentinel(t *testing.T) {
	for _, err := range []error{windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_OUTOFMEMORY, windows.ERROR_COMMITMENT_LIMIT,
		windows.ERROR_NOT_ENOUGH_QUOTA, windows.ERROR_INVALID_PARAMETER} {
		check.Wraps(t, sentinel(err), ErrOutOfMemory)
	}
	if err := sentinel(windows.ERROR_ACCESS_DENIED); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutOfMemory) {
		t.Error(err)
	}
}
